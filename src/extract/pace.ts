/** Keeps requests from starting faster than the service is to be asked. */
import { UsageError } from '../errors.ts';

/** Waits for the caller's turn, in the order of the calls. Rejects with the signal's reason when it fires first. */
export type Pace = (signal?: AbortSignal) => Promise<void>;

export interface PaceOptions {
  /** Any positive number; 0.2 is one start in five seconds. */
  readonly perSecond: number;
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Timers that are set to more fire at once. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/**
 * A pace for one process, without bursts: no start comes sooner than `1 / perSecond` seconds after the one before it,
 * however long nothing was asked. Whoever is stopped while waiting gives the turn to the next.
 */
export function openPace({ perSecond, now, sleep }: PaceOptions): Pace {
  if (!(perSecond > 0)) throw new UsageError(`requests_per_second is ${perSecond}; it must be a number above 0.`);
  const intervalMs = 1000 / perSecond;
  let earliestMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();

  const untilFree = async (signal: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      const nowMs = now().getTime();
      // A clock that was set back must not turn one interval into an hour.
      earliestMs = Math.min(earliestMs, nowMs + intervalMs);
      if (nowMs >= earliestMs) break;
      await sleep(Math.min(Math.ceil(earliestMs - nowMs), LONGEST_SLEEP_MS), signal);
    }
    signal?.throwIfAborted();
    earliestMs = now().getTime() + intervalMs;
  };

  return async (signal) => {
    signal?.throwIfAborted();
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = before.then(() => turn.promise);
    try {
      await unlessAborted(before, signal);
      await untilFree(signal);
    } finally {
      turn.resolve();
    }
  };
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
