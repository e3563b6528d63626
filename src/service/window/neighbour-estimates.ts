/** Estimates the items of days from the known ranges: the days in a range, and the days in a gap between ranges. */
import type { ItemEstimate } from './estimate.ts';
import type { FullAnswer } from './full-answer.ts';
import type { KnownDays, KnownRange } from './known-days.ts';
import { DEFAULT_VARIANCE, logRateOf, type Rate, rateBetween, rateOf } from './rate.ts';
import type { Rhythm } from './rhythm.ts';

/** A range of days, both ends included. */
export type Region = Pick<KnownRange, 'from' | 'to'>;

/** The observations that estimates are made from. */
export interface Observations {
  readonly week: Rhythm;
  readonly known: KnownDays;
  /** Windows that came back full and were unknown before, newest first. */
  readonly uncharted: readonly Region[];
  /** Shortest first. */
  readonly fulls: readonly FullAnswer[];
}

const EVERYWHERE: Region = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** The number of nearest ranges that estimate a gap. */
const NEIGHBOURS = 8;
/** The variance if only full answers are known. */
const UNKNOWN_VARIANCE = 1;
/** The assumed number of answers in the shortest full window, if nothing else is known. */
const UNKNOWN_TIMES = 5;

/** An estimate for each day of the range, both ends included. */
export const neighbourEstimates = (from: number, to: number, observations: Observations): readonly ItemEstimate[] =>
  new Estimator(observations).of(from, to);

class Estimator {
  readonly #observations: Observations;
  readonly #ranges: readonly KnownRange[];
  readonly #overallRates = new Map<Region, Rate>();
  readonly #estimates: ItemEstimate[] = [];

  constructor(observations: Observations) {
    this.#observations = observations;
    this.#ranges = observations.known.all();
  }

  of(from: number, to: number): readonly ItemEstimate[] {
    let index = this.#observations.known.indexOf(from);
    for (let day = from; day <= to; day = from + this.#estimates.length) {
      const range = this.#ranges[index];
      if (range && range.from <= day) {
        this.#addKnown(range, day, Math.min(range.to, to));
        index++;
      } else this.#addGap(index, day, to);
    }
    return this.#estimates;
  }

  #addKnown(range: KnownRange, from: number, to: number): void {
    const { week } = this.#observations;
    const weight = week.between(range.from, range.to);
    const variance = range.source === 'whole' ? 0 : DEFAULT_VARIANCE;
    for (let day = from; day <= to; day++) {
      const share = weight === 0 ? 1 / (range.to - range.from + 1) : week.weightOf(day) / weight;
      this.#estimates.push({ items: range.items * share, variance });
    }
  }

  /** Adds the days from `from` to the next range or region, at most to `to`. `index` is the next range's. */
  #addGap(index: number, from: number, to: number): void {
    const { week, known } = this.#observations;
    const region = this.#regionOf(from);
    const [first, end] = [known.indexOf(region.from), known.indexOf(region.to + 1)];
    const overall = this.#overallRateOf(region, this.#ranges.slice(first, end));
    const nearest = (start: number, stop: number): readonly KnownRange[] =>
      this.#ranges.slice(Math.max(first, start), Math.max(first, Math.min(end, stop)));
    const before = rateOf(nearest(index - NEIGHBOURS, index).toReversed(), week, overall);
    const after = rateOf(nearest(index, index + NEIGHBOURS), week, overall);
    const left = this.#ranges[index - 1]?.to ?? from;
    const right = this.#ranges[index]?.from ?? to + 1;
    const last = Math.min(right - 1, to, this.#endOf(region, from));
    for (let day = from; day <= last; day++) {
      const rate = rateBetween(before, after, day - left, right - day) ?? overall;
      this.#estimates.push({ items: Math.exp(rate.mean) * week.weightOf(day), variance: rate.variance });
    }
  }

  /** The days whose rates apply to this day. Rates from elsewhere say little about an uncharted window. */
  #regionOf(day: number): Region {
    return this.#observations.uncharted.find((it) => it.from <= day && it.to >= day) ?? EVERYWHERE;
  }

  #endOf(region: Region, day: number): number {
    if (region !== EVERYWHERE) return region.to;
    return Math.min(...this.#observations.uncharted.filter((it) => it.from > day).map((it) => it.from - 1));
  }

  #overallRateOf(region: Region, ranges: readonly KnownRange[]): Rate {
    const rate = this.#overallRates.get(region) ?? overallRate(ranges, region, this.#observations);
    this.#overallRates.set(region, rate);
    return rate;
  }
}

/** The overall rate of these ranges. Without enough weight, a rate that overfills the shortest full window. */
function overallRate(ranges: readonly KnownRange[], region: Region, { week, fulls }: Observations): Rate {
  const shortest = fulls.find((it) => it.from >= region.from && it.to <= region.to);
  const items = ranges.reduce((sum, it) => sum + it.items, 0);
  const weight = ranges.reduce((sum, it) => sum + week.between(it.from, it.to), 0);
  const fallback = shortest
    ? Math.log((shortest.returned * UNKNOWN_TIMES) / Math.max(1, week.between(shortest.from, shortest.to)))
    : Number.NEGATIVE_INFINITY;
  return { mean: weight >= 1 ? logRateOf(items, weight) : fallback, variance: UNKNOWN_VARIANCE };
}
