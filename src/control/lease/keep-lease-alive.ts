/** Holds a lease for as long as work goes on, and tells when it was lost. */
import { type Lease, releaseLease, renewLease } from '../../ledger/lease.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type HeartbeatSleep, openHeartbeat } from './heartbeat.ts';

export interface LeaseKeepAlive {
  /** Aborts when another holder took over. */
  readonly lost: AbortSignal;
  /** Says that the lease is not to be given back at the end: others hold it by then. */
  readonly markHandedOver: () => void;
  /** Stops the heartbeat and gives the lease back. */
  readonly end: () => Promise<void>;
}

/** Renews the lease until `end`; `onBeat` is called with each heartbeat. */
export function keepLeaseAlive(
  ops: Ops,
  lease: Lease,
  sleep: HeartbeatSleep,
  onBeat = async (): Promise<void> => undefined,
): LeaseKeepAlive {
  const lost = new AbortController();
  let isKept = false;
  const heartbeat = openHeartbeat(async () => {
    if (!(await renewLease(ops, lease))) lost.abort();
    await onBeat();
  }, sleep);
  return {
    lost: lost.signal,
    markHandedOver: () => {
      isKept = true;
    },
    end: async () => {
      await heartbeat.end();
      // Not given back, it runs out by itself; what the work came to counts more.
      if (!isKept) await releaseLease(ops, lease).catch(() => undefined);
    },
  };
}
