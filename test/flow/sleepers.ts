/** A clock that moves only when everybody sleeps, to the moment at which the next one wakes. */
import { setImmediate as turn } from 'node:timers/promises';

export interface Sleepers {
  readonly now: () => Date;
  readonly ms: () => number;
  readonly set: (ms: number) => void;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Lets all pending work run, then wakes the next sleeper, until none sleeps or the condition holds. */
  readonly run: (until?: () => boolean) => Promise<void>;
}

/** Sleepers of a clock; `late` is how much later than requested each sleep ends. A sleep takes at least one millisecond. */
export function sleepers(late: () => number = () => 0): Sleepers {
  let nowMs = 1_700_000_000_000;
  const asleep = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => new Date(nowMs),
    ms: () => nowMs,
    set: (ms) => {
      nowMs = ms;
    },
    sleep: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        const sleeper = { at: nowMs + Math.max(1, ms + late()), wake: resolve };
        asleep.add(sleeper);
        const onAbort = (): void => {
          asleep.delete(sleeper);
          reject(signal?.reason as Error);
        };
        if (signal?.aborted) onAbort();
        else signal?.addEventListener('abort', onAbort, { once: true });
      }),
    run: async (until = () => false) => {
      for (;;) {
        await settled();
        const next = [...asleep].toSorted((a, b) => a.at - b.at)[0];
        if (!next || until()) return;
        asleep.delete(next);
        nowMs = Math.max(nowMs, next.at);
        next.wake();
      }
    },
  };
}

/** All work that needs no time has been done. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await turn();
}
