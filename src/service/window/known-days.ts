/** Item counts of ranges of days. Ranges are disjoint and ordered, and the newest information on a day wins. */
import { type DayRange, lengthOf, sharedDays } from '../../day.ts';
import type { Rhythm } from './rhythm.ts';

/** A range of days with its number of items. */
export interface KnownRange extends DayRange {
  readonly items: number;
  readonly source: KnownBy;
}

/** The source of a range: a complete answer, or the dates of a full answer in date order. */
export type KnownBy = 'whole' | 'order';

/** A record of known days. The rhythm decides how the items of a range are distributed over its days. */
export class KnownDays {
  readonly #week: Rhythm;
  #ranges: KnownRange[] = [];

  constructor(week: Rhythm) {
    this.#week = week;
  }

  /** Adds a range and replaces what was known about its days. */
  put(range: KnownRange): void {
    this.#replace(range, [range]);
  }

  /** Removes all ranges from this source. */
  drop(by: KnownBy): void {
    this.#ranges = this.#ranges.filter((it) => it.source !== by);
  }

  /** Removes all that is known about these days. */
  forget(days: DayRange): void {
    this.#replace(days, []);
  }

  /** The ranges, in order. */
  all(): readonly KnownRange[] {
    return this.#ranges;
  }

  /** The index in `all` of the first range that ends on this day or later. */
  indexOf(day: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.to ?? 0) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The ranges that share a day with these days, in order. */
  near({ from, to }: DayRange): readonly KnownRange[] {
    const first = this.indexOf(from);
    let end = first;
    while ((this.#ranges[end]?.from ?? Number.POSITIVE_INFINITY) <= to) end++;
    return this.#ranges.slice(first, end);
  }

  /** The number of these days that complete answers cover. */
  completeDays(days: DayRange): number {
    return this.near(days)
      .filter(({ source }) => source === 'whole')
      .reduce((sum, it) => sum + lengthOf(sharedDays(it, days)), 0);
  }

  /** Items of the ranges that are completely inside these days. */
  items(days: DayRange): number {
    const inside = this.near(days).filter((it) => it.from >= days.from && it.to <= days.to);
    return inside.reduce((sum, { items }) => sum + items, 0);
  }

  /** The last known day at or before `from`, and the first known day at or after `to`; infinite if there is none. */
  edges({ from, to }: DayRange): { readonly before: number; readonly after: number } {
    const [first, last] = [this.indexOf(from), this.indexOf(to)];
    const onFirst = this.#ranges[first];
    const before = onFirst && onFirst.from <= from ? onFirst.to : this.#ranges[first - 1]?.to;
    return { before: before ?? Number.NEGATIVE_INFINITY, after: this.#ranges[last]?.from ?? Number.POSITIVE_INFINITY };
  }

  #replace(days: DayRange, by: readonly KnownRange[]): void {
    const near = this.near(days);
    const before = near.flatMap((it) => this.#part(it, { from: it.from, to: days.from - 1 }));
    const after = near.flatMap((it) => this.#part(it, { from: days.to + 1, to: it.to }));
    this.#ranges.splice(this.indexOf(days.from), near.length, ...before, ...by, ...after);
  }

  #part(range: KnownRange, days: DayRange): KnownRange[] {
    if (days.from > days.to) return [];
    const total = this.#week.weightIn(range);
    return [{ ...range, ...days, items: total === 0 ? 0 : (range.items * this.#week.weightIn(days)) / total }];
  }
}
