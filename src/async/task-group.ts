/** Keeps count of work that goes on beside other work, for whoever waits until there is room, or news. */

export interface TaskGroup {
  /** Takes work into the count until it ends; what it throws goes to `onError`. */
  readonly track: (work: Promise<void>) => void;
  readonly size: () => number;
  /** Waits until the condition is met; it is looked at whenever some work ends, and when stirred. */
  readonly waitUntil: (isMet: () => boolean) => Promise<void>;
  /** Says that something changed that a condition may look at. */
  readonly recheck: () => void;
}

interface Waiter {
  readonly isMet: () => boolean;
  readonly go: () => void;
}

/** A count of nothing yet; `onEnd` is told of each work that ended. Waiting costs the same however much is under way. */
export function openTaskGroup(onError: (error: unknown) => void, onEnd: () => void = () => undefined): TaskGroup {
  const waiters = new Set<Waiter>();
  let size = 0;
  const recheck = (): void => {
    for (const waiter of waiters) {
      if (!waiter.isMet()) continue;
      waiters.delete(waiter);
      waiter.go();
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
      // What was met when it was stirred may be over when the waiter gets to run.
      while (!isMet()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiters.add({ isMet, go: resolve });
        await promise;
      }
    },
    recheck,
  };
}
