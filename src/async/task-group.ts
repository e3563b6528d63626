/** Counts running background work, for callers that wait for free capacity or for a change. */

export interface TaskGroup {
  /** Counts the work until it ends; its error goes to `onError`. */
  readonly track: (work: Promise<void>) => void;
  readonly size: () => number;
  /** Waits until the condition is true. It is checked when some work ends, and on `recheck`. */
  readonly waitUntil: (isMet: () => boolean) => Promise<void>;
  /** Checks the conditions again after a change. */
  readonly recheck: () => void;
}

interface Waiter {
  readonly isMet: () => boolean;
  readonly resume: () => void;
}

/**
 * An empty group. `onEnd` is called after each work. The cost of waiting does not depend on the amount of running work.
 */
export function openTaskGroup(onError: (error: unknown) => void, onEnd: () => void = () => undefined): TaskGroup {
  const waiters = new Set<Waiter>();
  let size = 0;
  const recheck = (): void => {
    for (const waiter of waiters) {
      if (!waiter.isMet()) continue;
      waiters.delete(waiter);
      waiter.resume();
    }
  };
  return {
    track: (work) => {
      size += 1;
      void work.catch(onError).finally(() => {
        size -= 1;
        recheck();
        onEnd();
      });
    },
    size: () => size,
    waitUntil: async (isMet) => {
      // A condition that was true at the check may be false when the waiter continues.
      while (!isMet()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiters.add({ isMet, resume: resolve });
        await promise;
      }
    },
    recheck,
  };
}
