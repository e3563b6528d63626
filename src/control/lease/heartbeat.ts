/** Work that repeats in the background for as long as something is held. */
import { HEARTBEAT_MS } from '../../ledger/lease.ts';

/** Rejects when the signal fires. The last argument marks it as the background wait of a heartbeat. */
export type HeartbeatSleep = (ms: number, signal: AbortSignal, beside: 'heartbeat') => Promise<void>;

export interface Heartbeat {
  /** Stops the heartbeat, after its current work. */
  readonly end: () => Promise<void>;
}

/**
 * Runs the work at each heartbeat from now on. An error is ignored until the next one, since the database may be
 * unavailable for a moment.
 */
export function openHeartbeat(work: () => Promise<void>, sleep: HeartbeatSleep): Heartbeat {
  const ended = new AbortController();
  const running = (async () => {
    while (!ended.signal.aborted) {
      try {
        await sleep(HEARTBEAT_MS, ended.signal, 'heartbeat');
        if (!ended.signal.aborted) await work();
      } catch {
        // A lease or slot expires by itself, and its users check that it is still held.
      }
    }
  })();
  return {
    end: async () => {
      ended.abort();
      await running;
    },
  };
}
