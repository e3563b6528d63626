/**
 * Estimates how many items a window of days holds, from the slices so far. Estimates decide how windows are split, and
 * never what is complete.
 */
import { type DayRange, lengthOf, overlap, sharedDays } from '../../day.ts';
import {
  countsOf,
  type DatedAnswer,
  type FullAnswer,
  MAX_DENSITY_RATIO,
  orderOf,
  raisedToFull,
  scaledBySample,
} from './full-answer.ts';
import { type KnownBy, KnownDays, type KnownRange } from './known-days.ts';
import { type ItemEstimate, itemsOf, neighbourEstimates } from './rates.ts';
import { Rhythm } from './rhythm.ts';

/** A requested slice, with its days as numbers. */
export interface DatedSlice extends DatedAnswer {
  readonly full: boolean;
}

/** The number of items that gives a reliable rate. */
const ENOUGH = 15;
/** A full window is a surprise if its estimate is at most this many answers. */
const SURPRISE = 3;
/** A range was incomplete if an answer has this many times the expected items. */
const CONTRADICTED = 1.5;
/** A rate applies to ranges up to this many times the days it was observed on. */
const CHARTED = 2;
/** The assumed number of answers in the shortest full window, if nothing else is known. */
const UNKNOWN_TIMES = 5;
/** The share of items that must have a date for the dates to count. */
const DATED = 0.9;

/** A model of the items per day, at first without any observation. */
export class Density {
  readonly #week = new Rhythm();
  readonly #known = new KnownDays(this.#week);
  /** From the first to the last day of all answers. */
  #requested: DayRange = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  /** Shortest first. */
  #fulls: FullAnswer[] = [];
  /** Full answers in date order, minus those in no order. Negative infinity once the order proved meaningless. */
  #inOrder = 0;
  /** The items of days that exceed one answer: their number, or a bound on it as long as parts are open. */
  readonly #busyDays = new Map<number, number>();

  learn({ days, ...slice }: DatedSlice): void {
    const { from, to } = this.#requested;
    this.#requested = { from: Math.min(from, slice.from), to: Math.max(to, slice.to) };
    if (this.#isContradicted(slice)) {
      this.#inOrder = Number.NEGATIVE_INFINITY;
      this.#known.drop('order');
    }
    const dated = days && days.length >= slice.returned * DATED ? { ...slice, days } : slice;
    if (slice.full) this.#learnFull(dated);
    else this.#learnComplete(dated);
  }

  /** Adds the item count of a day that exceeds one answer. */
  learnBusyDay(day: number, items: number): void {
    this.#learnComplete({ from: day, to: day, returned: items });
    this.#busyDays.set(day, items);
  }

  /** Adds an estimate of the items of a busy day, from a full answer to a part of it. */
  estimateBusyDay(day: number, items: number): void {
    this.#busyDays.set(day, Math.max(items, this.#busyDays.get(day) ?? 0));
  }

  /**
   * An estimate for each day of the range. Full answers raise the estimates: shortest windows
   * first, so that longer ones only distribute the remainder.
   */
  guesses(range: DayRange): readonly ItemEstimate[] {
    const { from, to } = range;
    const near = this.#fulls.filter((it) => overlap(it, range));
    const first = Math.min(from, ...near.map((it) => it.from));
    const last = Math.max(to, ...near.map((it) => it.to));
    const busyDay = this.#itemsOfBusyDay();
    let all = this.#byNeighbours({ from: first, to: last });
    for (const full of near) {
      const start = full.from - first;
      const days = all.slice(start, start + lengthOf(full));
      all = all.toSpliced(start, days.length, ...raisedToFull(full, scaledBySample(full, days), busyDay));
    }
    return all.slice(from - first, to - first + 1);
  }

  /**
   * The range of unknown days around these days, if a window in it came back full although its estimate fit in one
   * answer.
   */
  underestimatedDays(days: DayRange): DayRange | undefined {
    const { before, after } = this.#known.edges(days);
    const gap = { from: before + 1, to: after - 1 };
    const isSurprise = (it: FullAnswer): boolean => itemsOf(this.guesses(it)) <= it.returned * SURPRISE;
    const near = this.#fulls.filter((it) => it.from < it.to && overlap(it, gap));
    return near.some(isSurprise) ? gap : undefined;
  }

  /** True if the days are outside of all requested windows, and far more than the range of those windows. */
  isUncharted(days: DayRange): boolean {
    return !overlap(days, this.#requested) && lengthOf(days) > CHARTED * lengthOf(this.#requested);
  }

  /** True if known days are nearer to the end of the window than to its beginning. */
  knowsEndBetter(days: DayRange): boolean {
    const { before, after } = this.#known.edges(days);
    return Math.max(0, after - days.to) < Math.max(0, days.from - before);
  }

  #learnComplete(answer: DatedAnswer): void {
    const { from, to, returned, days } = answer;
    const known = this.#known;
    const counts = days && countsOf(days, answer);
    if (counts) this.#week.learn(from, counts);
    const ranges = counts ? rangesOf(from, counts, 'whole') : [{ from, to, items: returned, source: 'whole' as const }];
    for (const range of ranges) known.put(range);
    // The length of a full answer says nothing about days that are complete, or that are known to hold far more.
    this.#fulls = this.#fulls.filter(
      (it) => known.completeDays(it) < lengthOf(it) && known.items(it) < it.returned * MAX_DENSITY_RATIO,
    );
  }

  #learnFull(slice: DatedSlice): void {
    const { from, to, returned, days = [] } = slice;
    if (this.#exceedsKnown(slice)) this.#known.forget(slice);
    const order = orderOf(days, slice);
    if (order === 'rising' || order === 'falling') this.#inOrder += 1;
    if (order === 'none') this.#inOrder -= 1;
    const isDateOrdered = this.#inOrder >= 0 && order !== 'none' && order !== 'unknown';
    this.#fulls.push({ from, to, returned, counts: isDateOrdered ? undefined : countsOf(days, slice) });
    if (isDateOrdered) this.#learnDateOrder(slice, days, order);
    this.#fulls.sort((a, b) => lengthOf(a) - lengthOf(b));
  }

  /** True if the days were considered complete, but an answer has more items. */
  #exceedsKnown(answer: DatedAnswer): boolean {
    const isAllKnown = this.#known.completeDays(answer) === lengthOf(answer);
    return isAllKnown && itemsOf(this.#byNeighbours(answer)) * CONTRADICTED < answer.returned;
  }

  /** Adds a full answer in date order. It ends within its last day, so that day may hold more items. */
  #learnDateOrder({ from, to }: DayRange, days: readonly number[], order: 'rising' | 'falling' | 'one day'): void {
    const last = days.at(-1);
    if (last === undefined || last < from || last > to) return;
    const onLastDay = days.filter((day) => day === last).length;
    this.#fulls.push({ from: last, to: last, returned: onLastDay, isCutOff: true });
    // The days before the last one are complete.
    if (order === 'rising') this.#assumeComplete({ from, to: last - 1 }, days);
    if (order === 'falling') this.#assumeComplete({ from: last + 1, to }, days);
  }

  #assumeComplete(range: DayRange, all: readonly number[]): void {
    if (range.from > range.to) return;
    const days = all.filter((day) => day >= range.from && day <= range.to);
    for (const it of rangesOf(range.from, countsOf(days, range) ?? [], 'order'))
      if (this.#known.completeDays(it) === 0) this.#known.put(it);
  }

  /** True if the date order made these days look far emptier than they are. */
  #isContradicted(answer: DatedAnswer): boolean {
    const { from, to, returned } = answer;
    const assumed = this.#known.near(answer).filter(({ source }) => source === 'order');
    const items = assumed.reduce((sum, it) => {
      const weight = this.#week.weightIn(sharedDays(answer, it));
      return sum + (it.items * weight) / Math.max(this.#week.weightIn(it), weight, Number.MIN_VALUE);
    }, 0);
    const coversRange = (assumed[0]?.from ?? to + 1) <= from && (assumed.at(-1)?.to ?? from - 1) >= to;
    return coversRange && returned > items * CONTRADICTED + ENOUGH;
  }

  #byNeighbours(days: DayRange): readonly ItemEstimate[] {
    const [shortest] = this.#fulls;
    const unknownItems = shortest
      ? (shortest.returned * UNKNOWN_TIMES) / Math.max(1, this.#week.weightIn(shortest))
      : 0;
    return neighbourEstimates(days, this.#known, this.#week, unknownItems);
  }

  /** The typical number of items of a day that exceeds one answer: the geometric mean; undefined if no such day is known. */
  #itemsOfBusyDay(): number | undefined {
    const days = [...this.#busyDays.values()];
    if (days.length === 0) return undefined;
    return Math.exp(days.reduce((sum, items) => sum + Math.log(items + 1), 0) / days.length);
  }
}

/** Ranges of days, each with enough items for a rate. */
function rangesOf(from: number, counts: readonly number[], source: KnownBy): KnownRange[] {
  const ranges: KnownRange[] = [];
  let [start, items] = [from, 0];
  counts.forEach((count, index) => {
    items += count;
    if (items < ENOUGH && index < counts.length - 1) return;
    ranges.push({ from: start, to: from + index, items, source });
    [start, items] = [from + index + 1, 0];
  });
  return ranges;
}
