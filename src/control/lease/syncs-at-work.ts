/** The syncs that a living process works on. */
import { liveLeases, syncLease } from '../../ledger/lease.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { isOtherProcess } from './holder.ts';

/** Returns the names of the syncs whose leases are alive, also of those that workers share. */
export async function syncsAtWork(warehouse: Warehouse, effects: RetryEffects): Promise<ReadonlySet<string>> {
  const live = await retryTransient(() => liveLeases(operationsOf(warehouse), syncLease('')), effects);
  // No other process works on an embedded warehouse.
  const working = live.filter(({ holder }) => warehouse.kind === 'postgres' || !isOtherProcess(holder));
  return new Set(working.map(({ name }) => name.slice(syncLease('').length)));
}
