/** Spaces the starts of one process, even if timers fire late or the clock changes. */

export interface PacerOptions {
  readonly intervalMs: number;
  /** The farthest that a start can be ahead; a later one was computed before the clock was set back. */
  readonly farthestMs: number;
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface Pacer {
  /** Waits until the instant, and until an interval after the last start. Rejects when the signal fires. */
  readonly waitUntilReady: (atMs: number, signal: AbortSignal) => Promise<void>;
  /** Starts a call now; false if another call started after the caller's wait ended, so that it must wait again. */
  readonly start: () => boolean;
}

/** A longer timer fires immediately. */
export const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** The resolution of timers; shorter intervals hold on average over this time. */
const TIMER_MS = 2;

/** Creates the pacer of this process. */
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
    start: () => {
      const nowMs = now().getTime();
      if (earliestMs - nowMs > slackMs) return false;
      earliestMs = Math.max(earliestMs, nowMs - slackMs) + intervalMs;
      return true;
    },
  };
}
