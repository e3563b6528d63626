/** Reads the answers of the next load during the current load. */
import { type LoadLimits, openGroup, type SizedBatch } from '../../load/group.ts';

/** How long a group waits for answers that could join it. */
export interface LingerOptions {
  /** False while the source has nothing more to give for now; absent, it has more until it ends. */
  readonly hasMore?: () => boolean;
  /** Resolves when a group has waited long enough. */
  readonly linger?: () => Promise<unknown>;
}

/**
 * Splits a source, in order, into groups that may be loaded together. The next group is filled while the consumer works
 * on the current one. When the consumer asks, it gets the group in its current state, unless more answers are available
 * or expected. At most one group and one further answer are buffered. An error of the source is thrown after the groups
 * before it.
 */
export async function* prefetchGroups<T extends SizedBatch>(
  source: AsyncGenerator<T, unknown>,
  most: LoadLimits,
  { hasMore = () => true, linger }: LingerOptions = {},
): AsyncGenerator<readonly T[], undefined> {
  let group = openGroup<T>(most);
  /** The answer that did not fit into the group. */
  let next: T | undefined;
  let end: { readonly error?: unknown } | undefined;
  let changed = Promise.withResolvers<void>();

  const fill = async (): Promise<void> => {
    while (next === undefined && !end) {
      try {
        const { value, done } = await source.next();
        if (done === true) end = {};
        else if (!group.admit(value)) next = value;
      } catch (error) {
        end = { error };
      }
      wake();
    }
  };
  const wake = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const isFull = (): boolean => next !== undefined || end !== undefined;
  const isReady = (): boolean => group.answers.length > 0 && !hasMore();
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isFull() && !isSo()) await changed.promise;
  };

  void fill();
  try {
    for (;;) {
      await until(isReady);
      if (linger && !isFull()) {
        let isOver = false;
        const over = (): void => {
          isOver = true;
          wake();
        };
        void linger().then(over, over);
        await until(() => isOver);
      }
      const { answers } = group;
      if (answers.length === 0) {
        if (end && 'error' in end) throw end.error;
        return undefined;
      }
      group = openGroup(most);
      if (next !== undefined) {
        group.admit(next);
        next = undefined;
        void fill();
      }
      yield answers;
    }
  } finally {
    await source.return(undefined);
  }
}
