/** Locks the warehouse against every sync, for work that no load may interrupt. */
import { HeldError } from '../../errors.ts';
import { acquireLease, type Lease, liveLeases, syncLease } from '../../ledger/lease.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { keepLeaseAlive, type LeaseKeepAlive } from './keep-lease-alive.ts';
import { holderOf } from './holder.ts';

export interface HeldLease {
  readonly lease: Lease;
  readonly keepAlive: LeaseKeepAlive;
}

export interface ExclusiveEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
}

/** Acquires all of these leases or none. Throws a HeldError if another holder has one. */
export async function acquireAll(
  warehouse: Warehouse,
  names: readonly string[],
  effects: ExclusiveEffects,
): Promise<HeldLease[]> {
  const ops = operationsOf(warehouse);
  const held: HeldLease[] = [];
  const holder = holderOf(effects);
  try {
    for (const name of names) {
      const lease = await acquireLease(ops, name, holder, warehouse.kind === 'embedded');
      held.push({ lease, keepAlive: keepLeaseAlive(ops, lease, effects.sleep) });
    }
    return held;
  } catch (error) {
    for (const holding of held) await holding.keepAlive.end();
    throw error;
  }
}

/** Throws a HeldError while any other sync runs, such as one that never ran before and so has no held lease. */
export async function assertNoOtherRuns(warehouse: Warehouse, ops: Ops, held: readonly HeldLease[]): Promise<void> {
  if (warehouse.kind === 'embedded') return;
  const ours = new Set(held.map(({ lease }) => lease.name));
  const other = (await liveLeases(ops, syncLease(''))).find(({ name }) => !ours.has(name));
  if (other)
    throw new HeldError(`Another run holds the lease of ${other.name}: ${other.holder}.`, {
      next: 'Wait for it to end.',
    });
}
