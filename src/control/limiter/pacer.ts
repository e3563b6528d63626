/** Keeps the starts of one process apart, however late timers fire and whatever the clock does. */

export interface PacerOptions {
  readonly intervalMs: number;
  /** The most that a start can lie ahead; what lies further was reckoned before the clock was set back. */
  readonly farthestMs: number;
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface Pacer {
  /** Waits until the instant has come and the last start is an interval ago. Rejects when the signal fires. */
  readonly waitUntilReady: (atMs: number, signal: AbortSignal) => Promise<void>;
  /** Says that a call starts; to be said right after `waitUntilReady`, with nothing awaited in between. */
  readonly recordStart: () => void;
}

/** Timers that are set to more fire at once. */
export const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** No timer measures less; shorter intervals hold on average over this time. */
const TIMER_MS = 2;

/** The starts of this process. */
export function openPacer({ intervalMs, farthestMs, now, sleep }: PacerOptions): Pacer {
  const slackMs = intervalMs < TIMER_MS ? TIMER_MS : 0;
  let earliestMs = Number.NEGATIVE_INFINITY;
  return {
    waitUntilReady: async (atMs, signal) => {
      let dueMs = atMs;
      for (;;) {
        signal.throwIfAborted();
        const nowMs = now().getTime();
        earliestMs = Math.min(earliestMs, nowMs + intervalMs);
        dueMs = Math.min(dueMs, nowMs + farthestMs);
        const waitMs = Math.max(dueMs, earliestMs) - nowMs;
        if (waitMs <= slackMs) return;
        await sleep(Math.min(Math.ceil(waitMs), LONGEST_SLEEP_MS), signal);
      }
    },
    recordStart: () => {
      earliestMs = Math.max(earliestMs, now().getTime() - slackMs) + intervalMs;
    },
  };
}
