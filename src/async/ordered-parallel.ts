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
  const upcoming = new Upcoming(source(idle));
  const canStart = (item: T): boolean => started.every((before) => isIndependent(before.item, item));
  const start = (item: T): void => {
    const done = work(item);
    // The error is thrown when this item's result is due.
    done.catch(() => undefined);
    started.push({ item, done });
  };
  try {
    for (;;) {
      const hasCapacity = started.length < concurrency;
      const { next } = upcoming;
      if (hasCapacity && next && canStart(next.item)) {
        start(next.item);
        upcoming.next = undefined;
        continue;
      }
      if (hasCapacity) upcoming.request();
      const [first] = started;
      if (!first && !upcoming.arrival) return upcoming.conclude();
      const ended = first?.done.then(() => first);
      const done = await Promise.race([ended, upcoming.arrival].filter((it) => it !== undefined));
      if (!done) continue;
      started.shift();
      yield await done.done;
    }
  } finally {
    await idle();
    await upcoming.close();
  }
}

/** A source, read one item ahead. */
class Upcoming<T> {
  /** The next item that has not started. */
  next: { readonly item: T } | undefined;
  /** Resolves when the requested item is here or the source has ended; undefined if no item is requested. */
  arrival: Promise<void> | undefined;
  /** The end of the source, with its error if it failed. */
  #end: { readonly error?: unknown } | undefined;
  readonly #items: AsyncGenerator<T, undefined>;

  constructor(items: AsyncGenerator<T, undefined>) {
    this.#items = items;
  }

  /** Requests the next item unless it is here already or the source has ended. */
  request(): void {
    if (!this.next && !this.#end) this.arrival ??= this.#read();
  }

  /** Throws the error of the source, if it failed. */
  conclude(): undefined {
    if (this.#end && 'error' in this.#end) throw this.#end.error;
    return undefined;
  }

  async close(): Promise<void> {
    await this.#items.return(undefined);
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#items.next();
      if (done === true) this.#end = {};
      else this.next = { item: value };
    } catch (error) {
      this.#end = { error };
    }
    this.arrival = undefined;
  }
}
