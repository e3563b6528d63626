/** What the loader did with one answer. `received = loaded + unchanged + superseded + quarantined`. */
export interface Receipt {
  readonly received: number;
  readonly loaded: number;
  /** Loaded items whose rows existed with other values. */
  readonly changed: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  /** Rows written, by table, including children and bridges. */
  readonly written: Readonly<Record<string, number>>;
}
