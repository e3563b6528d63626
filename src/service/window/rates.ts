/**
 * Estimates the items of days from the known ranges near them. Uses logarithms of rates, so that one busy day does not
 * outweigh all others.
 */
import { type DayRange, lengthOf } from '../../day.ts';
import type { KnownDays, KnownRange } from './known-days.ts';
import type { Rhythm } from './rhythm.ts';

/** The expected number of items of a day, and the variance of its logarithm: 0 if the number is known. */
export interface ItemEstimate {
  readonly items: number;
  readonly variance: number;
}

/** The expected number of items of these days. */
export const itemsOf = (days: readonly ItemEstimate[]): number => days.reduce((sum, { items }) => sum + items, 0);

/** The logarithm of the items of a day of weight 1, and its variance. */
interface Rate {
  readonly mean: number;
  readonly variance: number;
}

/** The number of nearest ranges, on each side of a gap, that estimate it. */
const NEIGHBOURS = 8;
/** The weight of a range relative to the next nearer one. */
const FADES = 0.8;
/** The weight of the overall rate. */
const OVERALL = 0.15;
/** The variance of a rate from few neighbours: days differ by about a fifth. */
const DEFAULT_VARIANCE = 0.04;
/** The variance if only full answers are known. */
const UNKNOWN_VARIANCE = 1;

/** An estimate for each day of the range. `unknownItems` per day of weight 1 are assumed if nothing is known. */
export function neighbourEstimates(
  { from, to }: DayRange,
  known: KnownDays,
  week: Rhythm,
  unknownItems: number,
): readonly ItemEstimate[] {
  const ranges = known.all();
  const overall = overallRate(ranges, week, unknownItems);
  const estimates: ItemEstimate[] = [];
  let index = known.indexOf(from);
  for (let day = from; day <= to; day = from + estimates.length) {
    const range = ranges[index];
    const isKnown = range !== undefined && range.from <= day;
    const last = Math.min(to, isKnown ? range.to : (range?.from ?? Number.POSITIVE_INFINITY) - 1);
    const estimateOf = isKnown ? knownDay(range, week) : unknownDay(ranges, index, week, overall);
    for (let each = day; each <= last; each++) estimates.push(estimateOf(each));
    if (isKnown) index++;
  }
  return estimates;
}

/** The estimate of a day in a known range. */
function knownDay(range: KnownRange, week: Rhythm): (day: number) => ItemEstimate {
  const weight = week.weightIn(range);
  const variance = range.source === 'whole' ? 0 : DEFAULT_VARIANCE;
  return (day) => ({
    items: range.items * (weight === 0 ? 1 / lengthOf(range) : week.weightOf(day) / weight),
    variance,
  });
}

/** The estimate of a day in the gap before the range with this index: between the rates of both sides, by distance. */
function unknownDay(
  ranges: readonly KnownRange[],
  index: number,
  week: Rhythm,
  overall: Rate,
): (day: number) => ItemEstimate {
  const before = rateOf(ranges.slice(Math.max(0, index - NEIGHBOURS), index).toReversed(), week, overall);
  const after = rateOf(ranges.slice(index, index + NEIGHBOURS), week, overall);
  const left = ranges[index - 1]?.to ?? Number.NEGATIVE_INFINITY;
  const right = ranges[index]?.from ?? Number.POSITIVE_INFINITY;
  return (day) => {
    const rate = before && after ? between(before, after, (day - left) / (right - left)) : (before ?? after ?? overall);
    return { items: Math.exp(rate.mean) * week.weightOf(day), variance: rate.variance };
  };
}

const between = (before: Rate, after: Rate, share: number): Rate => ({
  mean: before.mean * (1 - share) + after.mean * share,
  variance: before.variance * (1 - share) + after.variance * share,
});

/** The rate of ranges, nearest first; undefined if there are none, or only days that hold nothing. */
function rateOf(nearest: readonly KnownRange[], week: Rhythm, overall: Rate): Rate | undefined {
  if (nearest.length === 0) return undefined;
  const rates = nearest.map((range, index) => {
    const weight = week.weightIn(range);
    return { log: logRateOf(range.items, weight), counts: FADES ** index * Math.min(1, weight) };
  });
  if (Number.isFinite(overall.mean)) rates.push({ log: overall.mean, counts: OVERALL });
  const all = rates.reduce((sum, { counts }) => sum + counts, 0);
  if (all === 0) return undefined;
  const mean = rates.reduce((sum, { log, counts }) => sum + log * counts, 0) / all;
  const spread = rates.reduce((sum, { log, counts }) => sum + (log - mean) ** 2 * counts, 0);
  return { mean, variance: (spread + DEFAULT_VARIANCE) / (all + 0.5) };
}

/** The rate of all ranges together. Without enough weight, the assumed one. */
function overallRate(ranges: readonly KnownRange[], week: Rhythm, unknownItems: number): Rate {
  const items = ranges.reduce((sum, it) => sum + it.items, 0);
  const weight = ranges.reduce((sum, it) => sum + week.weightIn(it), 0);
  return { mean: weight >= 1 ? logRateOf(items, weight) : Math.log(unknownItems), variance: UNKNOWN_VARIANCE };
}

/** The logarithm of the rate of items on days of this weight. Without items it is low, but finite. */
const logRateOf = (items: number, weight: number): number => Math.log((items + 0.3) / (weight + 0.05));
