/** Item counts of ranges of days. Ranges are disjoint and ordered, and the newest information on a day wins. */
import type { Rhythm } from './rhythm.ts';

/** A range of days, both ends included, with its number of items. */
export interface KnownRange {
  readonly from: number;
  readonly to: number;
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
  forget(from: number, to: number): void {
    this.#replace({ from, to }, []);
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
  near(from: number, to: number): readonly KnownRange[] {
    const first = this.indexOf(from);
    let end = first;
    while ((this.#ranges[end]?.from ?? Number.POSITIVE_INFINITY) <= to) end++;
    return this.#ranges.slice(first, end);
  }

  /** The number of these days that complete answers cover. */
  completeDays(from: number, to: number): number {
    return this.near(from, to)
      .filter(({ source }) => source === 'whole')
      .reduce((days, it) => days + Math.min(it.to, to) - Math.max(it.from, from) + 1, 0);
  }

  /** Items of the ranges that are completely inside these days. */
  items(from: number, to: number): number {
    const inside = this.near(from, to).filter((it) => it.from >= from && it.to <= to);
    return inside.reduce((sum, { items }) => sum + items, 0);
  }

  /** The last known day at or before `from`, and the first known day at or after `to`; infinite if there is none. */
  edges(from: number, to: number): { readonly before: number; readonly after: number } {
    const [first, last] = [this.indexOf(from), this.indexOf(to)];
    const onFirst = this.#ranges[first];
    const before = onFirst && onFirst.from <= from ? onFirst.to : this.#ranges[first - 1]?.to;
    return { before: before ?? Number.NEGATIVE_INFINITY, after: this.#ranges[last]?.from ?? Number.POSITIVE_INFINITY };
  }

  #replace({ from, to }: Pick<KnownRange, 'from' | 'to'>, by: readonly KnownRange[]): void {
    const near = this.near(from, to);
    const before = near.flatMap((it) => this.#part(it, it.from, from - 1));
    const after = near.flatMap((it) => this.#part(it, to + 1, it.to));
    this.#ranges.splice(this.indexOf(from), near.length, ...before, ...by, ...after);
  }

  #part(range: KnownRange, from: number, to: number): KnownRange[] {
    if (from > to) return [];
    const total = this.#week.between(range.from, range.to);
    return [{ ...range, from, to, items: total === 0 ? 0 : (range.items * this.#week.between(from, to)) / total }];
  }
}
