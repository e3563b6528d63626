/** The points of an invocation's summaries, once a sync of the request log showed what earlier syncs of it cost. */
import type { SyncSummary } from '../../ledger/summary.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

/**
 * Returns the summaries with the points that the log shows for their runs. They are unchanged if no sync of the invocation
 * read the log, or if the database no longer answers: a finished invocation must not fail for a figure.
 */
export async function chargedSummaries(
  warehouse: Warehouse,
  syncs: readonly SyncSummary[],
): Promise<readonly SyncSummary[]> {
  if (!syncs.some(({ endpoint, answers }) => endpoint === LOG_ENDPOINT && answers > 0)) return syncs;
  const ids = syncs.flatMap(({ runId }) => runId ?? []);
  const runs = await operationsOf(warehouse)
    .selectFrom('runs')
    .select(['id', 'points'])
    .where('id', 'in', ids)
    .where('points', 'is not', null)
    .execute()
    .catch(() => []);
  const points = new Map(runs.map((run) => [run.id, Number(run.points)]));
  // A continued run also has the points of this invocation, which were counted together with its points.
  return syncs.map((it) => (it.continued ? it : { ...it, points: points.get(it.runId ?? '') ?? it.points }));
}
