/** Work that is done again and again beside other work, for as long as something is held. */
import { HEARTBEAT_MS } from '../../ledger/lease.ts';

/** Rejects when the signal fires. The last argument tells this wait from all others: the one that goes on beside them. */
export type HeartbeatSleep = (ms: number, signal: AbortSignal, beside: 'heartbeat') => Promise<void>;

export interface Heartbeat {
  /** Stops it, once what it is doing is done. */
  readonly end: () => Promise<void>;
}

/** Does the work at each heartbeat from now on. One that fails is left to the next: the database may be away for a moment. */
export function openHeartbeat(work: () => Promise<void>, sleep: HeartbeatSleep): Heartbeat {
  const ended = new AbortController();
  const beating = (async () => {
    while (!ended.signal.aborted) {
      try {
        await sleep(HEARTBEAT_MS, ended.signal, 'heartbeat');
        if (!ended.signal.aborted) await work();
      } catch {
        // What is held runs out by itself, and whoever relies on it asks whether it is held still.
      }
    }
  })();
  return {
    end: async () => {
      ended.abort();
      await beating;
    },
  };
}
