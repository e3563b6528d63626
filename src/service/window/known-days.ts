/** What is known of stretches of days: disjoint, in order, the newest word on a day holding. */

/** A stretch of days, both ends included, with the items that it was seen to hold. */
export interface KnownRange {
  readonly from: number;
  readonly to: number;
  readonly items: number;
  readonly source: KnownBy;
}

/**
 * How a stretch is known: from an answer that held all there is; from the dates of a full answer, if those run in order;
 * from a part of its kinds, if those are as usual.
 */
export type KnownBy = 'whole' | 'order' | 'kinds';

export interface KnownDays {
  /** Puts a stretch in; what was known of its days before gives way. */
  readonly put: (stretch: KnownRange) => void;
  /** Takes out every stretch known so. */
  readonly drop: (by: KnownBy) => void;
  /** Takes out all that is known of these days. */
  readonly forget: (from: number, to: number) => void;
  /** The stretches, in order. */
  readonly all: () => readonly KnownRange[];
  /** Place in `all` of the first stretch that ends on that day or later. */
  readonly indexOf: (day: number) => number;
  /** Days in these that are known from answers that held all there is. */
  readonly completeDays: (from: number, to: number) => number;
  /** Items of the stretches that lie in these days. */
  readonly items: (from: number, to: number) => number;
  /** The last known day at or before the first of these, and the first known one at or after the last; infinite where there is none. */
  readonly edges: (from: number, to: number) => { readonly before: number; readonly after: number };
}

/** An empty record. `weightOf` says how much of a stretch's items a part of its days may hold. */
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
  const part = (of: KnownRange, from: number, to: number): KnownRange[] => {
    if (from > to) return [];
    const whole = weightOf(of.from, of.to);
    return [{ ...of, from, to, items: whole === 0 ? 0 : (of.items * weightOf(from, to)) / whole }];
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
      let [days, at] = [0, indexOf(from)];
      for (let it = stretches[at]; it && it.from <= to; it = stretches[++at])
        if (it.source === 'whole') days += Math.min(it.to, to) - Math.max(it.from, from) + 1;
      return days;
    },
    items: (from, to) => {
      let [items, at] = [0, indexOf(from)];
      for (let it = stretches[at]; it && it.to <= to; it = stretches[++at]) if (it.from >= from) items += it.items;
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
