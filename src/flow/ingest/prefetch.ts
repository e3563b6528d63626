/** Has the answers of the next load read while those before are loaded. */
import { type LoadLimits, openGroup, type SizedBatch } from '../../load/group.ts';

/** How long a group waits for others that could join it. */
export interface LingerOptions {
  /** False while the source has nothing more to give for now; absent, it always has until it ends. */
  readonly hasMore?: () => boolean;
  /** Resolves when a group has waited long enough for what may come. */
  readonly linger?: () => Promise<unknown>;
}

/**
 * Cuts what comes, in its order, into groups that may be loaded together. While a group is worked on, the next is filled.
 * Whoever wants it then gets what it has by now, unless more is at hand to fill it, or is waited for. No more than a group
 * is held, and one answer after it. What the source throws is met after the groups before it.
 */
export async function* prefetchGroups<T extends SizedBatch>(
  source: AsyncGenerator<T, unknown>,
  most: LoadLimits,
  { hasMore = () => true, linger }: LingerOptions = {},
): AsyncGenerator<readonly T[], undefined> {
  let group = openGroup<T>(most);
  /** What the group could not take. */
  let next: T | undefined;
  let end: { readonly error?: unknown } | undefined;
  let stir = Promise.withResolvers<void>();

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
    stir.resolve();
    stir = Promise.withResolvers();
  };
  const isFull = (): boolean => next !== undefined || end !== undefined;
  const isReady = (): boolean => group.answers.length > 0 && !hasMore();
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isFull() && !isSo()) await stir.promise;
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
