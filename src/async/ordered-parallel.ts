/** Processes the items of a source, in parallel if they are independent, and yields results in order. */

export interface OrderedParallelOptions<T, R> {
  /** The number of items processed at a time. */
  readonly concurrency: number;
  /**
   * The items to process, in order. The next item is requested only when it could start. `idle` resolves when no work
   * runs.
   */
  readonly source: (idle: () => Promise<void>) => AsyncGenerator<T, undefined>;
  readonly work: (item: T) => Promise<R>;
  /** True if two items may be processed at the same time, whichever ends first. */
  readonly isIndependent: (one: T, other: T) => boolean;
}

/**
 * The results, in the order of the items, which also start in this order. An error of a work or of the source is thrown
 * after the results before it, once all started work has ended.
 */
export async function* orderedParallel<T, R>({
  concurrency,
  source,
  work,
  isIndependent,
}: OrderedParallelOptions<T, R>): AsyncGenerator<R, undefined> {
  const started: { readonly item: T; readonly done: Promise<R> }[] = [];
  const idle = async (): Promise<void> => void (await Promise.allSettled(started.map(({ done }) => done)));
  const items = source(idle);
  /** The next item that has not started. */
  let next: { readonly item: T } | undefined;
  /** The end of the source, with its error if it failed. */
  let end: { readonly error?: unknown } | undefined;
  let pendingNext: Promise<void> | undefined;
  const fetchNext = async (): Promise<void> => {
    try {
      const { value, done } = await items.next();
      if (done === true) end = {};
      else next = { item: value };
    } catch (error) {
      end = { error };
    }
    pendingNext = undefined;
  };
  const start = (item: T): void => {
    const done = work(item);
    // The error is thrown when this item's result is due.
    done.catch(() => undefined);
    started.push({ item, done });
    next = undefined;
  };
  try {
    for (;;) {
      const hasCapacity = started.length < concurrency;
      if (hasCapacity && next) {
        const { item } = next;
        if (started.every((before) => isIndependent(before.item, item))) {
          start(item);
          continue;
        }
      } else if (hasCapacity && !end) pendingNext ??= fetchNext();
      const [first] = started;
      if (!first && !pendingNext) {
        if (end && 'error' in end) throw end.error;
        return undefined;
      }
      const ended = first?.done.then(() => first);
      const done = await Promise.race([...(ended ? [ended] : []), ...(pendingNext ? [pendingNext] : [])]);
      if (!done) continue;
      started.shift();
      yield await done.done;
    }
  } finally {
    await idle();
    await items.return(undefined);
  }
}
