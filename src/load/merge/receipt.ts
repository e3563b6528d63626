/** What the loader did with one answer. `received = loaded + unchanged + superseded + quarantined`. */
export interface Receipt {
  readonly received: number;
  readonly loaded: number;
  /** Of the loaded ones, those whose rows were there and said something else. */
  readonly changed: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  /** Rows written, by table, children and bridges included. */
  readonly written: Readonly<Record<string, number>>;
}
