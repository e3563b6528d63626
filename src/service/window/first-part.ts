/** Splits a window of days so that each answer has room for its items, with few requests. */
import { type ItemEstimate, itemsOf } from './rates.ts';

export interface Prediction {
  readonly items: number;
  /** The probability, 0 to 1, that the days hold at least as many items as an answer can. */
  readonly chanceFull: number;
}

/** The prediction for days with these estimates, requested with this count. */
export function predictionOf(days: readonly ItemEstimate[], count: number): Prediction {
  const items = itemsOf(days);
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
 * full costs one request for nothing, and more for its own parts.
 */
export function firstPart(days: readonly ItemEstimate[], count: number): FirstPart {
  const total = itemsOf(days);
  let [items, varied] = [0, 0];
  let [best, bestYield, bestItems] = [0, -1, 0];
  for (const [index, day] of days.slice(0, -1).entries()) {
    if (index > 0 && items + day.items >= count) break;
    items += day.items;
    varied += day.items * day.variance;
    const chance = chanceFull(items, items === 0 ? 0 : varied / items, count);
    const worth = items / (1 + chance * (1 + items / (FILL * count)));
    if (worth >= bestYield) [best, bestYield, bestItems] = [index + 1, worth, items];
  }
  return { days: best, parts: Math.max(2, Math.ceil(total / Math.max(bestItems, 1))) };
}
