/** Who may work at once: some with each other, others alone. */

type Works = <T>(work: () => Promise<T>) => Promise<T>;

export interface Turns {
  /** Does work beside other such, behind what was to be alone before. */
  readonly together: Works;
  /** Does work behind all that was asked for before, and before what comes later. */
  readonly alone: Works;
}

/** Turns in the order of asking; nothing that fails keeps others from theirs, and nothing that was returned is held. */
export function openTurns(): Turns {
  let lastAlone: Promise<void> = Promise.resolve();
  let all: Promise<void> = Promise.resolve();
  const ended = async (works: readonly Promise<unknown>[]): Promise<void> => {
    await Promise.allSettled(works);
  };
  return {
    together: (work) => {
      const done = lastAlone.then(work);
      all = ended([all, done]);
      return done;
    },
    alone: (work) => {
      const done = all.then(work);
      all = ended([done]);
      lastAlone = all;
      return done;
    },
  };
}
