/** Values of forecasts: the expected points of the firings of a sync. */
import type { Confidence } from '../pricing/price-book.ts';

/** Expected points, with the range that holds nine of ten costs. */
export interface PointsRange {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

/** The expected cost of one firing. */
export interface FiringCost extends PointsRange {
  readonly at: Date;
  /** Questions that are due; a stored answer within `max_age` serves the others. */
  readonly questions: number;
}

/** The expected cost of a sync at each of its firings. */
export interface ScheduledCost {
  readonly sync: string;
  readonly endpoint: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Firings of its schedule, or of its parents' if it has none; empty if nothing fires it. */
  readonly firings: readonly FiringCost[];
  /** The cost of one run now, in a list of one. */
  readonly once: readonly FiringCost[];
  readonly confidence: Confidence;
}

/** Adds ranges. The ends are added too, as if all costs were low or high together, so the sum is rather too wide. */
export function sumOfRanges(ranges: readonly PointsRange[]): PointsRange {
  const sum = (name: keyof PointsRange): number => rounded(ranges.reduce((total, it) => total + it[name], 0));
  return { low: sum('low'), likely: sum('likely'), high: sum('high') };
}

/** Without the rounding errors of binary fractions. */
export const rounded = (points: number): number => Math.round(points * 1000) / 1000;
