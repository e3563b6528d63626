/** Divides a list into batches, such as the rows of one statement each. */

/** Returns the items in batches of at most this size, in order. */
export function* inBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Limits of a batch of items that have a weight, such as their bytes. */
export interface BatchLimits<T> {
  readonly maxItems: number;
  readonly weightOf: (item: T) => number;
  /** The maximum weight of a batch with several items. */
  readonly maxWeight: number;
}

/** The index after the last item of the batch that begins at `start`. The batch has at least one item if there is any. */
export function endOfBatch<T>(
  items: readonly T[],
  { maxItems, weightOf, maxWeight }: BatchLimits<T>,
  start = 0,
): number {
  let weight = 0;
  for (let end = start; end < items.length; end += 1) {
    weight += weightOf(items[end] as T);
    if (end - start === maxItems || (end > start && weight > maxWeight)) return end;
  }
  return items.length;
}

/** Splits items into as few parts as possible without a key twice in a part; items with the same key stay in order. */
export function withoutRepeats<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const parts: T[][] = [];
  const times = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item);
    const time = times.get(key) ?? 0;
    times.set(key, time + 1);
    (parts[time] ??= []).push(item);
  }
  return parts;
}
