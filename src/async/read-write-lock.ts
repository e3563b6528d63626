/** Who may work at once: some with each other, others alone. */

type Works = <T>(work: () => Promise<T>) => Promise<T>;

export interface ReadWriteLock {
  /** Does work beside other such, behind what was to be alone before. */
  readonly shared: Works;
  /** Does work behind all that was asked for before, and before what comes later. */
  readonly exclusive: Works;
}

/** Turns in the order of asking; nothing that fails keeps others from theirs, and nothing that was returned is held. */
export function openReadWriteLock(): ReadWriteLock {
  let lastAlone: Promise<void> = Promise.resolve();
  let all: Promise<void> = Promise.resolve();
  const ended = async (works: readonly Promise<unknown>[]): Promise<void> => {
    await Promise.allSettled(works);
  };
  return {
    shared: (work) => {
      const done = lastAlone.then(work);
      all = ended([all, done]);
      return done;
    },
    exclusive: (work) => {
      const done = all.then(work);
      all = ended([done]);
      lastAlone = all;
      return done;
    },
  };
}
