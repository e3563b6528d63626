/** One difference between the declared schema and the live one, as a reader of the drift check sees it. */
export interface SchemaFinding {
  readonly schema: string;
  readonly relation: string;
  /** The column, key, index or foreign key; absent when the whole relation is meant. */
  readonly part?: string;
  readonly kind: 'missing' | 'unknown' | 'different';
  /** What is declared and what is there, in words. */
  readonly message: string;
}
