/** Answers that earlier processes paid for and did not store. */
import { abandonMissing, type MissingSpools, missingSpools } from '../../recovery/spool/find-spools.ts';
import { ingestSpooled } from '../../recovery/spool/spool.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { Invocation } from './invocation.ts';
import type { SyncRun } from './sync-run.ts';

/**
 * Stores the spooled answers of the sync, and returns the spools that cannot be found. Call it before planning: a plan
 * made without these answers would buy them again.
 */
export async function recoverPaidAnswers(
  { warehouse, effects, spools }: Invocation,
  { definition, options, spooled }: SyncRun,
): Promise<readonly MissingSpools[]> {
  const ops = operationsOf(warehouse);
  const { name: sync } = definition;
  for (const files of spooled) await ingestSpooled(ops, files, { sync }, effects);
  const { own } = spools;
  if (options.abandonSpool === true)
    await retryTransient(() => abandonMissing(ops, sync, { ...effects, ...(own && { own }) }), effects);
  return retryTransient(() => missingSpools(ops, { syncs: [sync] }, spools), effects);
}
