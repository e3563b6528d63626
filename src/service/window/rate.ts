/**
 * How many items a day holds, estimated from the days near it. Uses logarithms, so that one busy day does not outweigh
 * all others.
 */
import type { KnownRange } from './known-days.ts';
import type { Rhythm } from './rhythm.ts';

export interface Rate {
  /** Logarithm of the items of a day of weight 1. */
  readonly mean: number;
  readonly variance: number;
}

/** The weight of a range relative to the next nearer one. */
const FADES = 0.8;
/** The weight of the overall rate. */
const OVERALL = 0.15;
/** The variance of a rate from few neighbours: days differ by about a fifth. */
export const DEFAULT_VARIANCE = 0.04;

/** The logarithm of the rate of items on days of this weight. Without items it is low, but finite. */
export const logRateOf = (items: number, weight: number): number => Math.log((items + 0.3) / (weight + 0.05));

/** The rate of ranges with their weights, nearest first; undefined if there are none. */
export function rateOf(nearest: readonly KnownRange[], week: Rhythm, overall: Rate): Rate | undefined {
  if (nearest.length === 0) return undefined;
  const rates = nearest.map(({ from, to, items }, index) => {
    const weight = week.between(from, to);
    return { log: logRateOf(items, weight), counts: FADES ** index * Math.min(1, weight) };
  });
  if (Number.isFinite(overall.mean)) rates.push({ log: overall.mean, counts: OVERALL });
  const all = rates.reduce((sum, { counts }) => sum + counts, 0);
  if (all === 0) return undefined;
  const mean = rates.reduce((sum, { log, counts }) => sum + log * counts, 0) / all;
  const spread = rates.reduce((sum, { log, counts }) => sum + (log - mean) ** 2 * counts, 0);
  return { mean, variance: (spread + DEFAULT_VARIANCE) / (all + 0.5) };
}

/** The rate of a day between two rates, weighted by its distance to each. */
export function rateBetween(
  before: Rate | undefined,
  after: Rate | undefined,
  sinceBefore: number,
  tillAfter: number,
): Rate | undefined {
  if (!before || !after) return before ?? after;
  const share = tillAfter / (sinceBefore + tillAfter);
  return {
    mean: before.mean * share + after.mean * (1 - share),
    variance: before.variance * share + after.variance * (1 - share),
  };
}
