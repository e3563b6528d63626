/** The estimated content of one day of a window. */

/** The expected number of items of a day, and the variance of its logarithm: 0 if the number is known. */
export interface ItemEstimate {
  readonly items: number;
  readonly variance: number;
}
