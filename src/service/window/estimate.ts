/** What a day of a window is estimated to hold. */

/** What a day is likely to hold, and the variance of the logarithm of that: 0 where it is known. */
export interface ItemEstimate {
  readonly items: number;
  readonly variance: number;
}
