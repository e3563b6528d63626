/** One difference between the declared schema and the live one, as the drift check reports it. */
export interface SchemaFinding {
  readonly schema: string;
  readonly relation: string;
  /** The column, key, index or foreign key; absent if the finding concerns the relation itself. */
  readonly part?: string;
  readonly kind: 'missing' | 'unknown' | 'different';
  /** Whether `sluice migrate` removes the difference. */
  readonly isFixedByMigrate?: true;
  /** A description of what is declared and what exists. */
  readonly message: string;
}
