/** Item counts of ranges of days. Ranges are disjoint and ordered, and the newest information on a day wins. */

/** A range of days, both ends included, with its number of items. */
export interface KnownRange {
  readonly from: number;
  readonly to: number;
  readonly items: number;
  readonly source: KnownBy;
}

/**
 * The source of a range: a complete answer; the dates of a full answer in date order; or a part of the day's kinds, if
 * their shares are typical.
 */
export type KnownBy = 'whole' | 'order' | 'kinds';

export interface KnownDays {
  /** Adds a range and replaces what was known about its days. */
  readonly put: (stretch: KnownRange) => void;
  /** Removes all ranges from this source. */
  readonly drop: (by: KnownBy) => void;
  /** Removes all that is known about these days. */
  readonly forget: (from: number, to: number) => void;
  /** The ranges, in order. */
  readonly all: () => readonly KnownRange[];
  /** The index in `all` of the first range that ends on this day or later. */
  readonly indexOf: (day: number) => number;
  /** The number of these days that complete answers cover. */
  readonly completeDays: (from: number, to: number) => number;
  /** Items of the ranges that are completely inside these days. */
  readonly items: (from: number, to: number) => number;
  /** The last known day at or before `from`, and the first known day at or after `to`; infinite if there is none. */
  readonly edges: (from: number, to: number) => { readonly before: number; readonly after: number };
}

/** An empty record. `weightOf` decides how the items of a range are distributed over its days. */
export function knownDays(weightOf: (from: number, to: number) => number): KnownDays {
  let stretches: KnownRange[] = [];
  const indexOf = (day: number): number => {
    let [low, high] = [0, stretches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((stretches[middle]?.to ?? 0) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const part = (range: KnownRange, from: number, to: number): KnownRange[] => {
    if (from > to) return [];
    const total = weightOf(range.from, range.to);
    return [{ ...range, from, to, items: total === 0 ? 0 : (range.items * weightOf(from, to)) / total }];
  };
  const replace = (from: number, to: number, by: readonly KnownRange[]): void => {
    const first = indexOf(from);
    let end = first;
    while ((stretches[end]?.from ?? Number.POSITIVE_INFINITY) <= to) end++;
    const parts = stretches
      .slice(first, end)
      .flatMap((it) => [...part(it, it.from, from - 1), ...part(it, to + 1, it.to)]);
    const before = parts.filter((it) => it.from < from);
    const after = parts.filter((it) => it.from > to);
    stretches.splice(first, end - first, ...before, ...by, ...after);
  };
  return {
    put: (stretch) => replace(stretch.from, stretch.to, [stretch]),
    forget: (from, to) => replace(from, to, []),
    drop: (by) => {
      stretches = stretches.filter((it) => it.source !== by);
    },
    all: () => stretches,
    indexOf,
    completeDays: (from, to) => {
      let [days, index] = [0, indexOf(from)];
      for (let it = stretches[index]; it && it.from <= to; it = stretches[++index])
        if (it.source === 'whole') days += Math.min(it.to, to) - Math.max(it.from, from) + 1;
      return days;
    },
    items: (from, to) => {
      let [items, index] = [0, indexOf(from)];
      for (let it = stretches[index]; it && it.to <= to; it = stretches[++index])
        if (it.from >= from) items += it.items;
      return items;
    },
    edges: (from, to) => {
      const [first, last] = [indexOf(from), indexOf(to)];
      const onFirst = stretches[first];
      const before = onFirst && onFirst.from <= from ? onFirst.to : stretches[first - 1]?.to;
      return { before: before ?? Number.NEGATIVE_INFINITY, after: stretches[last]?.from ?? Number.POSITIVE_INFINITY };
    },
  };
}
