/** Works on what comes one after the other, or side by side where one item has nothing to do with another. */

export interface OrderedParallelOptions<T, R> {
  /** At how many items it is at work at once. */
  readonly concurrency: number;
  /** What is to be worked on, in order; asked for the next item when it could be begun. `idle` resolves when none is at work. */
  readonly source: (idle: () => Promise<void>) => AsyncGenerator<T, undefined>;
  readonly work: (item: T) => Promise<R>;
  /** True of items that may be worked on at once, whichever of them ends first. */
  readonly isIndependent: (one: T, other: T) => boolean;
}

/**
 * The results of the works, in the order of the items, which are begun in their order too. What a work or the source throws
 * comes out behind the results before it, when all that was begun has ended.
 */
export async function* orderedParallel<T, R>({
  concurrency,
  source,
  work,
  isIndependent,
}: OrderedParallelOptions<T, R>): AsyncGenerator<R, undefined> {
  const begun: { readonly item: T; readonly done: Promise<R> }[] = [];
  const idle = async (): Promise<void> => void (await Promise.allSettled(begun.map(({ done }) => done)));
  const items = source(idle);
  /** What came and was not begun yet; an end, with the error if it is one. */
  let next: { readonly item: T } | undefined;
  let end: { readonly error?: unknown } | undefined;
  let coming: Promise<void> | undefined;
  const come = async (): Promise<void> => {
    try {
      const { value, done } = await items.next();
      if (done === true) end = {};
      else next = { item: value };
    } catch (error) {
      end = { error };
    }
    coming = undefined;
  };
  const begin = (item: T): void => {
    const done = work(item);
    // It fails when its turn comes.
    done.catch(() => undefined);
    begun.push({ item, done });
    next = undefined;
  };
  try {
    for (;;) {
      const isRoom = begun.length < concurrency;
      if (isRoom && next) {
        const { item } = next;
        if (begun.every((before) => isIndependent(before.item, item))) {
          begin(item);
          continue;
        }
      } else if (isRoom && !end) coming ??= come();
      const [first] = begun;
      if (!first && !coming) {
        if (end && 'error' in end) throw end.error;
        return undefined;
      }
      const ended = first?.done.then(() => first);
      const done = await Promise.race([...(ended ? [ended] : []), ...(coming ? [coming] : [])]);
      if (!done) continue;
      begun.shift();
      yield await done.done;
    }
  } finally {
    await idle();
    await items.return(undefined);
  }
}
