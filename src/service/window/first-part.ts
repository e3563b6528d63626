/** Splits a window of days so that each answer has room for its items, with few requests. */
import type { ItemEstimate } from './estimate.ts';

export interface Prediction {
  readonly items: number;
  /** The probability, 0 to 1, that the days hold at least as many items as an answer can. */
  readonly chanceFull: number;
}

/** The prediction for days with these estimates, requested with this count. */
export function predictionOf(days: readonly ItemEstimate[], count: number): Prediction {
  const items = days.reduce((sum, it) => sum + it.items, 0);
  const variance = days.reduce((sum, it) => sum + it.items * it.variance, 0) / Math.max(items, 1e-9);
  return { items, chanceFull: chanceFull(items, variance, count) };
}

/** The variance of counts, plus that of the rate. The logistic curve approximates the normal one. */
function chanceFull(items: number, variance: number, count: number): number {
  const deviation = Math.sqrt(items + variance * items * items);
  return deviation === 0 ? 0 : 1 / (1 + Math.exp((1.702 * (count - 0.5 - items)) / deviation));
}

export interface FirstPart {
  /** The number of days of the first part. */
  readonly days: number;
  /** The estimated number of parts of the window. */
  readonly parts: number;
}

/** The average fill of answers after good splits, as a share of `count`. */
const FILL = 0.7;

/**
 * The first part of a window of at least two days: the days with the most items per request. A part that comes back
 * full costs one request for nothing, and more for its own parts. All parts get about the same number of items.
 */
export function firstPart(days: readonly ItemEstimate[], count: number): FirstPart {
  const total = days.reduce((sum, it) => sum + it.items, 0);
  let [items, varied] = [0, 0];
  let [best, bestYield] = [0, -1];
  const sums: number[] = [];
  for (const day of days.slice(0, -1)) {
    if (sums.length > 0 && items + day.items >= count) break;
    items += day.items;
    varied += day.items * day.variance;
    sums.push(items);
    const chance = chanceFull(items, items === 0 ? 0 : varied / items, count);
    const worth = items / (1 + chance * (1 + items / (FILL * count)));
    if (worth >= bestYield) [best, bestYield] = [sums.length, worth];
  }
  const most = sums[best - 1] ?? 0;
  const parts = Math.max(2, Math.ceil(total / Math.max(most, 1)));
  const share = total / parts;
  const even = sums.findLastIndex((it) => it <= Math.max(share, sums[0] ?? 0)) + 1;
  const nextSum = sums[even];
  // Parts consist of complete days: choose the nearer of the two sums, up to the best length.
  const nearer =
    nextSum !== undefined && even < best && nextSum - share < share - (sums[even - 1] ?? 0) ? even + 1 : even;
  return { days: Math.max(1, Math.min(nearer, best)), parts };
}
