/**
 * How many items a window of days is likely to hold, from the slices asked so far. All of it is an estimate: it decides
 * how windows are cut, never what is complete.
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

/** A slice that was asked, with its days as numbers. */
export interface DatedSlice extends DatedAnswer {
  readonly full: boolean;
}

export interface Density {
  readonly learn: (slice: DatedSlice) => void;
  /** Takes in what a day held that was more than an answer can. */
  readonly learnBusyDay: (day: number, items: number) => void;
  /** Takes in what a day holds by what is known of a part of its kinds. */
  readonly learnEstimate: (day: number, items: number) => void;
  /** A guess for each day from one to another, both included. */
  readonly guesses: (from: number, to: number) => readonly ItemEstimate[];
  /** The days around these of which as little is known, when some of them came back full though they were thought to fit. */
  readonly underestimatedDays: (from: number, to: number) => { readonly from: number; readonly to: number } | undefined;
  /** True of days outside of every window that was asked, when they are far more than the days between the first and the last of those. */
  readonly isUncharted: (from: number, to: number) => boolean;
  /** True when more is known of the days at the end of a window than of those at its beginning. */
  readonly knowsEndBetter: (from: number, to: number) => boolean;
}

/** Days from one to another, both included. */
type Region = Pick<KnownRange, 'from' | 'to'>;
const EVERYWHERE: Region = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Items enough for a rate that can be compared with others. */
const ENOUGH = 15;
/** The nearest stretches by which a gap is judged. */
const NEIGHBOURS = 8;
/** A full window that is taken to hold no more than so many answers was thought to fit in one. */
const SURPRISE = 3;
/** Days that hold so many times more than was thought were not told whole. */
const CONTRADICTED = 1.5;
/** Where nothing but full answers are known, anything may be there. */
const UNKNOWN_VARIANCE = 1;
/** How many answers the shortest full window is taken to fill as long as nothing else is known. */
const UNKNOWN_TIMES = 5;
/** A rate says something of so many times the days that it was seen on. */
const CHARTED = 2;
/** So many items of an answer must show a day for its days to be counted. */
const DATED = 0.9;

/** A model that knows nothing yet. */
export function density(): Density {
  const week = rhythm();
  const known = knownDays(week.between);
  /** Windows that came back full and of which nothing was known before, the newest first. */
  const uncharted: Region[] = [];
  /** The shortest first. */
  let fulls: FullAnswer[] = [];
  /** Full answers in the order of dates less those in none; far below nought once the order proved to say nothing. */
  let inOrder = 0;
  let [busyDays, busyLogs] = [0, 0];
  const busyDay = (): number => (busyDays === 0 ? 0 : Math.exp(busyLogs / busyDays));

  function learnWhole({ from, to, returned, days }: DatedAnswer): void {
    const counts = days && countsOf(days, from, to);
    if (counts) week.learn(from, counts);
    for (const it of counts
      ? stretchesOf(from, counts, 'whole')
      : [{ from, to, items: returned, source: 'whole' as const }])
      known.put(it);
    // Of days that are known whole, or to hold far more, an answer's length says nothing.
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
    // What was thought to be all of these days was not.
    const isAllKnown = known.completeDays(from, to) === to - from + 1;
    if (isAllKnown && byNeighbours(from, to).reduce((sum, { items }) => sum + items, 0) * CONTRADICTED < returned)
      known.forget(from, to);
    const order = orderOf(days, from, to);
    if (order === 'rising' || order === 'falling') inOrder += 1;
    if (order === 'none') inOrder -= 1;
    const runs = inOrder >= 0 && order !== 'none' && order !== 'unknown';
    fulls.push({ from, to, returned, counts: runs ? undefined : countsOf(days, from, to) });
    const last = days.at(-1);
    if (runs && last !== undefined && last >= from && last <= to) {
      // The day at which it broke off may hold any number more; those before it are told whole.
      const broken = days.filter((day) => day === last).length;
      fulls.push({ from: last, to: last, returned: broken, isCutOff: true });
      if (order === 'rising') supposeWhole(from, last - 1, days);
      if (order === 'falling') supposeWhole(last + 1, to, days);
    }
    fulls.sort((a, b) => a.to - a.from - (b.to - b.from));
  }

  function supposeWhole(from: number, to: number, all: readonly number[]): void {
    if (from > to) return;
    const days = all.filter((day) => day >= from && day <= to);
    for (const it of stretchesOf(from, countsOf(days, from, to) ?? [], 'order'))
      if (known.completeDays(it.from, it.to) === 0) known.put(it);
  }

  /** True when the order of dates made these days look far emptier than they are. */
  function isContradicted(from: number, to: number, returned: number): boolean {
    const supposed = known.all().filter((it) => it.source === 'order' && it.from <= to && it.to >= from);
    const items = supposed.reduce((sum, it) => {
      const shared = week.between(Math.max(from, it.from), Math.min(to, it.to));
      return sum + (it.items * shared) / Math.max(week.between(it.from, it.to), shared, Number.MIN_VALUE);
    }, 0);
    const isWhole = (supposed[0]?.from ?? to + 1) <= from && (supposed.at(-1)?.to ?? from - 1) >= to;
    return isWhole && returned > items * CONTRADICTED + ENOUGH;
  }

  /** The rate over these stretches; as long as that is next to nothing, one at which the shortest full window is very full. */
  function overallRate(stretches: readonly KnownRange[], region: Region): Rate {
    const shortest = fulls.find((it) => it.from >= region.from && it.to <= region.to);
    const items = stretches.reduce((sum, it) => sum + it.items, 0);
    const weight = stretches.reduce((sum, it) => sum + week.between(it.from, it.to), 0);
    const fallback = shortest
      ? Math.log((shortest.returned * UNKNOWN_TIMES) / Math.max(1, week.between(shortest.from, shortest.to)))
      : Number.NEGATIVE_INFINITY;
    return { mean: weight >= 1 ? logRateOf(items, weight) : fallback, variance: UNKNOWN_VARIANCE };
  }

  /** Guesses from what is known of the days themselves, and of the stretches beside them. */
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

  /** The days whose rates say what a day may hold. Rates seen elsewhere say little of days that were uncharted. */
  const regionOf = (day: number): Region => uncharted.find((it) => it.from <= day && it.to >= day) ?? EVERYWHERE;

  const endOfRegion = (day: number, region: Region): number =>
    region === EVERYWHERE ? Math.min(...uncharted.filter((it) => it.from > day).map((it) => it.from - 1)) : region.to;

  /** The same, with what full answers say: the shortest windows first, so that longer ones raise only what is left. */
  function guesses(from: number, to: number): readonly ItemEstimate[] {
    const near = fulls.filter((it) => it.from <= to && it.to >= from);
    const first = Math.min(from, ...near.map((it) => it.from));
    const last = Math.max(to, ...near.map((it) => it.to));
    let all = byNeighbours(first, last);
    for (const full of near) {
      const at = full.from - first;
      const days = all.slice(at, at + full.to - full.from + 1);
      all = all.toSpliced(at, days.length, ...raisedToFull(full, scaledBySample(full, days), busyDay()));
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
      else learnWhole(dated);
    },
    learnBusyDay: (day, items) => {
      learnWhole({ from: day, to: day, returned: items });
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

/** Stretches of days that hold enough each for a rate. */
function stretchesOf(from: number, counts: readonly number[], source: KnownBy): KnownRange[] {
  const stretches: KnownRange[] = [];
  let [start, items] = [from, 0];
  counts.forEach((count, at) => {
    items += count;
    if (items < ENOUGH && at < counts.length - 1) return;
    stretches.push({ from: start, to: from + at, items, source });
    [start, items] = [from + at + 1, 0];
  });
  return stretches;
}
