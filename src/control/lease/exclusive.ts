/** Locks the warehouse against every sync, for work that no load may interrupt. */
import { HeldError } from '../../errors.ts';
import { acquireLease, type Lease, liveLeases, syncLease } from '../../ledger/lease.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { keepLeaseAlive } from './keep-lease-alive.ts';
import { holderOf } from './holder.ts';

/** Leases that are renewed until they are disposed of, which releases them. */
export interface HeldLeases extends AsyncDisposable {
  readonly leases: readonly Lease[];
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
): Promise<HeldLeases> {
  const ops = operationsOf(warehouse);
  const leases: Lease[] = [];
  const holder = holderOf(effects);
  await using acquired = new AsyncDisposableStack();
  for (const name of names) {
    const lease = await acquireLease(ops, name, holder, warehouse.kind === 'embedded');
    leases.push(lease);
    acquired.use(keepLeaseAlive(ops, lease, effects.sleep));
  }
  const held = acquired.move();
  return { leases, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Throws a HeldError while any other sync runs, such as one that never ran before and so has no held lease. */
export async function assertNoOtherRuns(warehouse: Warehouse, ops: Ops, held: HeldLeases): Promise<void> {
  if (warehouse.kind === 'embedded') return;
  const ours = new Set(held.leases.map(({ name }) => name));
  const other = (await liveLeases(ops, syncLease(''))).find(({ name }) => !ours.has(name));
  if (other)
    throw new HeldError(`Another run holds the lease of ${other.name}: ${other.holder}.`, {
      next: 'Wait for it to end.',
    });
}
