/** How a window of days is cut so that each answer has room for what it holds, and few are needed. */
import type { ItemEstimate } from './estimate.ts';

export interface Prediction {
  readonly items: number;
  /** 0 to 1: how likely the days hold as many items as an answer can, or more. */
  readonly chanceFull: number;
}

/** What days with these guesses hold together, asked with this count. */
export function predictionOf(days: readonly ItemEstimate[], count: number): Prediction {
  const items = days.reduce((sum, it) => sum + it.items, 0);
  const variance = days.reduce((sum, it) => sum + it.items * it.variance, 0) / Math.max(items, 1e-9);
  return { items, chanceFull: chanceFull(items, variance, count) };
}

/** Counts scatter by themselves, and more as the rate is less sure. The logistic curve is near the normal one. */
function chanceFull(items: number, variance: number, count: number): number {
  const deviation = Math.sqrt(items + variance * items * items);
  return deviation === 0 ? 0 : 1 / (1 + Math.exp((1.702 * (count - 0.5 - items)) / deviation));
}

export interface FirstPart {
  /** How many days the first part has. */
  readonly days: number;
  /** Into how many parts the window would be cut as things look. */
  readonly parts: number;
}

/** What answers hold on average when windows are cut well, as a share of `count`. */
const FILL = 0.7;

/**
 * The first part of a window of at least two days, of as many days as bring the most items for each request; a part that
 * comes back full costs a request for nothing and then those for its own parts. The last parts are made alike.
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
  const over = sums[even];
  // Days are whole: the nearer of the two sums, as long as it is within the best.
  const nearer = over !== undefined && even < best && over - share < share - (sums[even - 1] ?? 0) ? even + 1 : even;
  return { days: Math.max(1, Math.min(nearer, best)), parts };
}
