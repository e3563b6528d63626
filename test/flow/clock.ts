/** Time that passes only while work sleeps, or when a test advances it. */
export interface Clock {
  readonly now: () => Date;
  /** Advances the clock and resolves immediately. Only a heartbeat waits until it is stopped; otherwise it would never pause. */
  readonly sleep: (ms: number, signal?: AbortSignal, beside?: 'heartbeat') => Promise<void>;
  readonly advance: (ms: number) => void;
  /** What was slept so far, heartbeats left out. */
  readonly slept: readonly number[];
}

/** The day on which tests begin: a Friday, in the morning on both sides of the Atlantic. */
export const START = '2026-03-06T15:00:00.000Z';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A clock that begins at an instant. */
export function clockFrom(start: string = START): Clock {
  let atMs = Date.parse(start);
  const slept: number[] = [];
  return {
    now: () => new Date(atMs),
    sleep: async (ms, signal, beside) => {
      signal?.throwIfAborted();
      if (beside && signal) return untilAborted(signal);
      slept.push(ms);
      atMs += ms;
    },
    advance: (ms) => {
      atMs += ms;
    },
    slept,
  };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
