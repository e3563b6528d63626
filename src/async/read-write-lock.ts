/** A lock for shared and exclusive work. */

type Runner = <T>(work: () => Promise<T>) => Promise<T>;

export interface ReadWriteLock {
  /** Runs together with other shared work, after exclusive work that was queued earlier. */
  readonly shared: Runner;
  /** Runs alone, after all work that was queued earlier and before work that is queued later. */
  readonly exclusive: Runner;
}

/**
 * A fair lock: work runs in the order of the calls. Failed work does not block later work, and results are not
 * retained.
 */
export function openReadWriteLock(): ReadWriteLock {
  let lastExclusive: Promise<void> = Promise.resolve();
  let all: Promise<void> = Promise.resolve();
  const ended = async (works: readonly Promise<unknown>[]): Promise<void> => {
    await Promise.allSettled(works);
  };
  return {
    shared: (work) => {
      const done = lastExclusive.then(work);
      all = ended([all, done]);
      return done;
    },
    exclusive: (work) => {
      const done = all.then(work);
      all = ended([done]);
      lastExclusive = all;
      return done;
    },
  };
}
