/** The estimated content of days of a window. */

/** The expected number of items of a day, and the variance of its logarithm: 0 if the number is known. */
export interface ItemEstimate {
  readonly items: number;
  readonly variance: number;
}

/** The expected number of items of these days. */
export const itemsOf = (days: readonly ItemEstimate[]): number => days.reduce((sum, { items }) => sum + items, 0);
