/** Divides a list into batches, such as the rows of one statement each. */

/** Returns the items in batches of at most this size, in order. */
export function* inBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
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
