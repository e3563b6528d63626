/**
 * Ends runs that died or stopped and that no sync of this config comes for: their sync was removed or renamed. A config in
 * another folder may still have the sync, so they are ended only when its next run would not continue them either.
 */
import { withFreeLease } from '../../control/lease/with-free-lease.ts';
import { assertLeases } from '../../ledger/lease.ts';
import { leftRuns } from '../../ledger/failures/left-runs.ts';
import { abandonRun } from '../../ledger/runs.ts';
import { abandonedAnswerNotice } from '../../recovery/reconcile/lost-answers.ts';
import { missingSpools } from '../../recovery/spool/find-spools.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { Invocation } from '../run/invocation.ts';
import type { SyncLease } from '../run/sync-lease.ts';

/**
 * Ends the left runs of syncs that the config does not have, and lists their requests in flight as lost. Call it after their
 * spooled and stored answers were loaded. A run stays open if its answers may be in a spool that cannot be found. `startedAt`
 * must be from before these answers were looked for, so that no other run is ended.
 */
export async function endLeftRuns(
  { warehouse, config, effects, spools }: Invocation,
  startedAt: Date,
  held: Pick<SyncLease, 'lease'>,
): Promise<void> {
  const ops = operationsOf(warehouse);
  const known = config.syncs.map(({ name }) => name);
  const left = await retryTransient(() => leftRuns(ops, known, startedAt), effects);
  for (const sync of new Set(left.map((run) => run.sync)))
    await withFreeLease(warehouse, sync, effects, false, async (lease) => {
      const missing = await retryTransient(() => missingSpools(ops, { syncs: [sync] }, spools), effects);
      const open = new Set(missing.map(({ runId }) => runId));
      const lost = new Set<string>();
      const endAll = async (tx: typeof ops): Promise<void> => {
        await assertLeases(tx, [held.lease, lease]);
        // Read again: another process may have ended them before the lease was acquired.
        const runs = (await leftRuns(tx, known, startedAt)).filter((run) => run.sync === sync && !open.has(run.id));
        for (const { id } of runs)
          for (const request of await abandonRun(tx, id, effects.now().toISOString())) lost.add(request);
      };
      await retryTransaction(ops, endAll, effects);
      for (const id of lost) effects.onNotice(abandonedAnswerNotice(sync, id));
    });
}
