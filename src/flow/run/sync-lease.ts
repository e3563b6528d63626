/** The lease of a sync, held for as long as a process works on it. */
import { keepLeaseAlive } from '../../control/lease/keep-lease-alive.ts';
import { acquireLease, assertNoRebuild, type Lease, syncLease } from '../../ledger/lease.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { Invocation } from './invocation.ts';
import { holderOf } from '../../control/lease/holder.ts';

export interface SyncLease {
  readonly lease: Lease;
  /** Aborts when the caller's signal does, or when another process took the lease over. */
  readonly signal: AbortSignal;
  /** Leaves the lease in place at the end, because the workers of a shared run need it. */
  readonly recordHandOver: () => void;
}

/** Does the work with the sync's lease held. Throws a HeldError when another process holds it. */
export async function withSyncLease<T>(
  { warehouse, effects, checkClock }: Invocation,
  sync: string,
  signal: AbortSignal,
  work: (held: SyncLease) => Promise<T>,
): Promise<T> {
  const ops = operationsOf(warehouse);
  const holder = holderOf(effects);
  const isSoleOwner = warehouse.kind === 'embedded';
  const lease = await retryTransient(() => acquireLease(ops, syncLease(sync), holder, isSoleOwner), effects);
  await using kept = keepLeaseAlive(ops, lease, effects.sleep, checkClock);
  if (warehouse.kind === 'postgres') await retryTransient(() => assertNoRebuild(ops), effects);
  const either = AbortSignal.any([signal, kept.lost]);
  return await work({ lease, signal: either, recordHandOver: kept.recordHandOver });
}
