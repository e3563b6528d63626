/** Holds a lease for as long as work goes on, and tells when it was lost. */
import { HEARTBEAT_MS, type Lease, releaseLease, renewLease } from '../ops/lease.ts';
import type { Ops } from '../ops/schema.ts';

export interface Hold {
  /** Aborts when another holder took over. */
  readonly lost: AbortSignal;
  /** Says that the lease is not to be given back at the end: others hold it by then. */
  readonly keep: () => void;
  /** Stops the heartbeat and gives the lease back. */
  readonly end: () => Promise<void>;
}

/** Renews the lease until `end`. A heartbeat that fails is tried again: the database may be away for a moment. */
export function hold(ops: Ops, lease: Lease, sleep: (ms: number, signal?: AbortSignal) => Promise<void>): Hold {
  const lost = new AbortController();
  const ended = new AbortController();
  let isKept = false;
  const beating = (async () => {
    while (!ended.signal.aborted) {
      try {
        await sleep(HEARTBEAT_MS, ended.signal);
        if (!ended.signal.aborted && !(await renewLease(ops, lease))) lost.abort();
      } catch {
        // The lease runs out by itself, and each load checks it.
      }
    }
  })();
  return {
    lost: lost.signal,
    keep: () => {
      isKept = true;
    },
    end: async () => {
      ended.abort();
      await beating;
      // Not given back, it runs out by itself; what the work came to counts more.
      if (!isKept) await releaseLease(ops, lease).catch(() => undefined);
    },
  };
}
