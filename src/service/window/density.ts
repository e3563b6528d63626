/**
 * Estimates how many items a window of days holds, from the slices so far. Estimates decide how windows are split, and
 * never what is complete.
 */
import type { ItemEstimate } from './estimate.ts';
import {
  countsOf,
  type DatedAnswer,
  type FullAnswer,
  MAX_DENSITY_RATIO,
  orderOf,
  raisedToFull,
  scaledBySample,
} from './full-answer.ts';
import { knownDays, type KnownBy, type KnownRange } from './known-days.ts';
import { logRateOf, type Rate, rateBetween, rateOf, DEFAULT_VARIANCE } from './rate.ts';
import { rhythm } from './rhythm.ts';

/** A requested slice, with its days as numbers. */
export interface DatedSlice extends DatedAnswer {
  readonly full: boolean;
}

export interface Density {
  readonly learn: (slice: DatedSlice) => void;
  /** Adds the item count of a day that exceeds one answer. */
  readonly learnBusyDay: (day: number, items: number) => void;
  /** Adds an estimate for a day, from the known part of its kinds. */
  readonly learnEstimate: (day: number, items: number) => void;
  /** An estimate for each day of the range, both ends included. */
  readonly guesses: (from: number, to: number) => readonly ItemEstimate[];
  /**
   * The range of unknown days around these days, if a window in it came back full although its estimate fit in one
   * answer.
   */
  readonly underestimatedDays: (from: number, to: number) => { readonly from: number; readonly to: number } | undefined;
  /** True if the days are outside of all requested windows, and far more than the range of those windows. */
  readonly isUncharted: (from: number, to: number) => boolean;
  /** True if known days are nearer to the end of the window than to its beginning. */
  readonly knowsEndBetter: (from: number, to: number) => boolean;
}

/** A range of days, both ends included. */
type Region = Pick<KnownRange, 'from' | 'to'>;
const EVERYWHERE: Region = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** The number of items that gives a reliable rate. */
const ENOUGH = 15;
/** The number of nearest ranges that estimate a gap. */
const NEIGHBOURS = 8;
/** A full window is a surprise if its estimate is at most this many answers. */
const SURPRISE = 3;
/** A range was incomplete if an answer has this many times the expected items. */
const CONTRADICTED = 1.5;
/** The variance if only full answers are known. */
const UNKNOWN_VARIANCE = 1;
/** The assumed number of answers in the shortest full window, if nothing else is known. */
const UNKNOWN_TIMES = 5;
/** A rate applies to ranges up to this many times the days it was observed on. */
const CHARTED = 2;
/** The share of items that must have a date for the dates to count. */
const DATED = 0.9;

/** A model without any observation. */
export function density(): Density {
  const week = rhythm();
  const known = knownDays(week.between);
  /** Windows that came back full and were unknown before, newest first. */
  const uncharted: Region[] = [];
  /** Shortest first. */
  let fulls: FullAnswer[] = [];
  /** Full answers in date order, minus those in no order. Negative infinity once the order proved meaningless. */
  let inOrder = 0;
  let [busyDays, busyLogs] = [0, 0];
  const busyDay = (): number => (busyDays === 0 ? 0 : Math.exp(busyLogs / busyDays));

  function learnComplete({ from, to, returned, days }: DatedAnswer): void {
    const counts = days && countsOf(days, from, to);
    if (counts) week.learn(from, counts);
    for (const it of counts
      ? stretchesOf(from, counts, 'whole')
      : [{ from, to, items: returned, source: 'whole' as const }])
      known.put(it);
    // The length of a full answer says nothing about days that are complete, or that are known to hold far more.
    fulls = fulls.filter(
      (it) =>
        known.completeDays(it.from, it.to) < it.to - it.from + 1 &&
        known.items(it.from, it.to) < it.returned * MAX_DENSITY_RATIO,
    );
  }

  function isUncharted(from: number, to: number): boolean {
    const seen = [...known.all(), ...fulls, ...uncharted];
    if (seen.some((it) => it.from <= to && it.to >= from)) return false;
    const reach = Math.max(...seen.map((it) => it.to)) - Math.min(...seen.map((it) => it.from)) + 1;
    return to - from + 1 > CHARTED * reach;
  }

  function learnFull({ from, to, returned, days = [] }: DatedSlice): void {
    if (isUncharted(from, to)) uncharted.unshift({ from, to });
    // The days were considered complete, but this answer has more items.
    const isAllKnown = known.completeDays(from, to) === to - from + 1;
    if (isAllKnown && byNeighbours(from, to).reduce((sum, { items }) => sum + items, 0) * CONTRADICTED < returned)
      known.forget(from, to);
    const order = orderOf(days, from, to);
    if (order === 'rising' || order === 'falling') inOrder += 1;
    if (order === 'none') inOrder -= 1;
    const isDateOrdered = inOrder >= 0 && order !== 'none' && order !== 'unknown';
    fulls.push({ from, to, returned, counts: isDateOrdered ? undefined : countsOf(days, from, to) });
    const last = days.at(-1);
    if (isDateOrdered && last !== undefined && last >= from && last <= to) {
      // The answer ends within its last day, so that day may hold more items. The days before are complete.
      const broken = days.filter((day) => day === last).length;
      fulls.push({ from: last, to: last, returned: broken, isCutOff: true });
      if (order === 'rising') assumeComplete(from, last - 1, days);
      if (order === 'falling') assumeComplete(last + 1, to, days);
    }
    fulls.sort((a, b) => a.to - a.from - (b.to - b.from));
  }

  function assumeComplete(from: number, to: number, all: readonly number[]): void {
    if (from > to) return;
    const days = all.filter((day) => day >= from && day <= to);
    for (const it of stretchesOf(from, countsOf(days, from, to) ?? [], 'order'))
      if (known.completeDays(it.from, it.to) === 0) known.put(it);
  }

  /** True if the date order made these days look far emptier than they are. */
  function isContradicted(from: number, to: number, returned: number): boolean {
    const assumed = known.all().filter((it) => it.source === 'order' && it.from <= to && it.to >= from);
    const items = assumed.reduce((sum, it) => {
      const shared = week.between(Math.max(from, it.from), Math.min(to, it.to));
      return sum + (it.items * shared) / Math.max(week.between(it.from, it.to), shared, Number.MIN_VALUE);
    }, 0);
    const coversRange = (assumed[0]?.from ?? to + 1) <= from && (assumed.at(-1)?.to ?? from - 1) >= to;
    return coversRange && returned > items * CONTRADICTED + ENOUGH;
  }

  /** The overall rate of these ranges. Without enough weight, a rate that overfills the shortest full window. */
  function overallRate(stretches: readonly KnownRange[], region: Region): Rate {
    const shortest = fulls.find((it) => it.from >= region.from && it.to <= region.to);
    const items = stretches.reduce((sum, it) => sum + it.items, 0);
    const weight = stretches.reduce((sum, it) => sum + week.between(it.from, it.to), 0);
    const fallback = shortest
      ? Math.log((shortest.returned * UNKNOWN_TIMES) / Math.max(1, week.between(shortest.from, shortest.to)))
      : Number.NEGATIVE_INFINITY;
    return { mean: weight >= 1 ? logRateOf(items, weight) : fallback, variance: UNKNOWN_VARIANCE };
  }

  /** Estimates from known days and from the known ranges around a gap. */
  function byNeighbours(from: number, to: number): ItemEstimate[] {
    const all = known.all();
    const guesses: ItemEstimate[] = [];
    const overalls = new Map<Region, Rate>();
    let at = known.indexOf(from);
    for (let day = from; day <= to; ) {
      const next = all[at];
      if (next && next.from <= day) {
        const weight = week.between(next.from, next.to);
        for (const end = Math.min(next.to, to); day <= end; day++) {
          const share = weight === 0 ? 1 / (next.to - next.from + 1) : week.weightOf(day) / weight;
          guesses.push({ items: next.items * share, variance: next.source === 'whole' ? 0 : DEFAULT_VARIANCE });
        }
        at++;
      } else {
        const region = regionOf(day);
        const [first, end] = [known.indexOf(region.from), known.indexOf(region.to + 1)];
        const overall = overalls.get(region) ?? overallRate(all.slice(first, end), region);
        overalls.set(region, overall);
        const nearest = (start: number, stop: number): readonly KnownRange[] =>
          all.slice(Math.max(first, start), Math.max(first, Math.min(end, stop)));
        const before = rateOf(nearest(at - NEIGHBOURS, at).toReversed(), week.between, overall);
        const after = rateOf(nearest(at, at + NEIGHBOURS), week.between, overall);
        const [left, right] = [all[at - 1]?.to ?? day, next?.from ?? to + 1];
        for (const last = Math.min(right - 1, to, endOfRegion(day, region)); day <= last; day++) {
          const rate = rateBetween(before, after, day - left, right - day) ?? overall;
          guesses.push({ items: Math.exp(rate.mean) * week.weightOf(day), variance: rate.variance });
        }
      }
    }
    return guesses;
  }

  /** The days whose rates apply to this day. Rates from elsewhere say little about an uncharted window. */
  const regionOf = (day: number): Region => uncharted.find((it) => it.from <= day && it.to >= day) ?? EVERYWHERE;

  const endOfRegion = (day: number, region: Region): number =>
    region === EVERYWHERE ? Math.min(...uncharted.filter((it) => it.from > day).map((it) => it.from - 1)) : region.to;

  /**
   * Estimates that also use full answers: shortest windows first, so that longer ones only distribute the remainder.
   */
  function guesses(from: number, to: number): readonly ItemEstimate[] {
    const near = fulls.filter((it) => it.from <= to && it.to >= from);
    const first = Math.min(from, ...near.map((it) => it.from));
    const last = Math.max(to, ...near.map((it) => it.to));
    let all = byNeighbours(first, last);
    for (const full of near) {
      const start = full.from - first;
      const days = all.slice(start, start + full.to - full.from + 1);
      all = all.toSpliced(start, days.length, ...raisedToFull(full, scaledBySample(full, days), busyDay()));
    }
    return all.slice(from - first, to - first + 1);
  }

  return {
    learn: ({ days, ...slice }) => {
      if (isContradicted(slice.from, slice.to, slice.returned)) {
        inOrder = Number.NEGATIVE_INFINITY;
        known.drop('order');
      }
      const dated = days && days.length >= slice.returned * DATED ? { ...slice, days } : slice;
      if (slice.full) learnFull(dated);
      else learnComplete(dated);
    },
    learnBusyDay: (day, items) => {
      learnComplete({ from: day, to: day, returned: items });
      busyDays += 1;
      busyLogs += Math.log(items + 1);
    },
    learnEstimate: (day, items) => {
      if (known.completeDays(day, day) === 0) known.put({ from: day, to: day, items, source: 'kinds' });
    },
    guesses,
    underestimatedDays: (from, to) => {
      const { before, after } = known.edges(from, to);
      const gap = { from: before + 1, to: after - 1 };
      const isSurprise = (it: FullAnswer): boolean =>
        guesses(it.from, it.to).reduce((sum, { items }) => sum + items, 0) <= it.returned * SURPRISE;
      const near = fulls.filter((it) => it.from < it.to && it.from <= gap.to && it.to >= gap.from);
      return near.some(isSurprise) ? gap : undefined;
    },
    isUncharted,
    knowsEndBetter: (from, to) => {
      const { before, after } = known.edges(from, to);
      return Math.max(0, after - to) < Math.max(0, from - before);
    },
  };
}

/** Ranges of days, each with enough items for a rate. */
function stretchesOf(from: number, counts: readonly number[], source: KnownBy): KnownRange[] {
  const stretches: KnownRange[] = [];
  let [start, items] = [from, 0];
  counts.forEach((count, index) => {
    items += count;
    if (items < ENOUGH && index < counts.length - 1) return;
    stretches.push({ from: start, to: from + index, items, source });
    [start, items] = [from + index + 1, 0];
  });
  return stretches;
}
