/** Divides a list into batches, such as the rows of one statement each. */

/** Returns the items in batches of at most this size, in order. */
export function* inBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
