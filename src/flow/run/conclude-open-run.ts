/** The end of a run that one process executed alone. */
import { assertLease, type Lease } from '../../ledger/lease.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import type { MissingSpools } from '../../recovery/spool/find-spools.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { deletedNotice, deletedRows } from '../replay/deleted-rows.ts';
import { concludeRun } from './conclude.ts';
import type { Invocation } from './invocation.ts';
import type { OpenedRun } from './open-run.ts';
import { reconcileRun } from './reconciler.ts';
import type { RunStop } from './stop-controller.ts';
import type { SyncRun } from './sync-run.ts';

export interface RunOutcome {
  readonly lease: Lease;
  /** What stopped the run; undefined when everything was requested. */
  readonly stop: RunStop | undefined;
  readonly missing: readonly MissingSpools[];
  /** The caller's signal fired. */
  readonly aborted: boolean;
}

/**
 * Records the end of the run, and returns its summary. Then matches the ledger with a request log that was read, and
 * warns of rows that were deleted while their answers are fresh.
 */
export async function concludeOpenRun(
  { warehouse, effects }: Invocation,
  { definition, options }: SyncRun,
  { run, covered, reliedInputs, lost, segment, startedAt }: OpenedRun,
  { lease, stop, missing, aborted }: RunOutcome,
): Promise<SyncSummary> {
  const ops = operationsOf(warehouse);
  const missingOfRun = missing.find(({ runId }) => runId === run.id);
  const summary = await retryTransient(async () => {
    // Another process that took over this run will conclude it.
    await assertLease(ops, lease);
    return concludeRun(ops, {
      definition,
      run,
      covered,
      reliedInputs,
      stop,
      aborted,
      lost,
      startedAt,
      failOnTruncated: options.failOnTruncated,
      backfill: options.from !== undefined || options.to !== undefined,
      schema: warehouse.schema,
      now: effects.now,
      isLimited: segment.isLimited,
      ...(missingOfRun && { missing: missingOfRun }),
    });
  }, effects);
  if (definition.endpoint.paging.by === 'cursor') await reconcileRun(warehouse, run, effects);
  else if (summary.fresh > covered)
    for (const deleted of await retryTransient(() => deletedRows(warehouse, run.id), effects))
      effects.onNotice(deletedNotice(deleted));
  return summary;
}
