/** Keeps a lease alive during work, and signals its loss. */
import { type Lease, releaseLease, renewLease } from '../../ledger/lease.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type HeartbeatSleep, openHeartbeat } from './heartbeat.ts';

/** Its disposal stops the heartbeat and releases the lease. */
export interface LeaseKeepAlive extends AsyncDisposable {
  /** Aborts when another holder took over. */
  readonly lost: AbortSignal;
  /** Marks the lease as transferred, so that it is not released at the end. */
  readonly recordHandOver: () => void;
}

/** Renews the lease until the disposal; `onBeat` is called with each heartbeat. */
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
    recordHandOver: () => {
      isKept = true;
    },
    [Symbol.asyncDispose]: async () => {
      await heartbeat.end();
      // A lease that is not released expires by itself; the result of the work matters more.
      if (!isKept) await releaseLease(ops, lease).catch(() => undefined);
    },
  };
}
