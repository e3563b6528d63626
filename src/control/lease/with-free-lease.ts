/** Short work under the lease of another sync. */
import { HeldError } from '../../errors.ts';
import { acquireLease, type Lease, releaseLease, syncLease } from '../../ledger/lease.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { holderOf } from './holder.ts';

/**
 * Does the work under the lease of a sync, and then releases the lease. Does nothing if the lease is held. `isSoleOwner` takes it
 * anyway: no other process lives, and no other work of this process may need it.
 */
export async function withFreeLease(
  warehouse: Warehouse,
  sync: string,
  effects: RetryEffects & { readonly newId: () => string },
  isSoleOwner: boolean,
  work: (lease: Lease) => Promise<void>,
): Promise<void> {
  const ops = operationsOf(warehouse);
  const holder = holderOf(effects);
  const lease = await retryTransient(() => acquireLease(ops, syncLease(sync), holder, isSoleOwner), effects).catch(
    (error: unknown) => {
      if (error instanceof HeldError) return undefined;
      throw error;
    },
  );
  if (!lease) return;
  try {
    await work(lease);
  } finally {
    await retryTransient(() => releaseLease(ops, lease), effects);
  }
}
