/** The points of an invocation's summaries, once a sync of the request log showed what earlier syncs of it cost. */
import { type EarlierPoints, pointsSentSince } from '../../ledger/log-costs.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

/**
 * Returns the summaries with the points that the log shows for their runs. `continued` has what the requests of continued
 * runs had cost before this invocation. The summaries are unchanged if no sync of the invocation read the log, or if the
 * database no longer answers: a finished invocation must not fail for a figure.
 */
export async function chargedSummaries(
  warehouse: Warehouse,
  syncs: readonly SyncSummary[],
  continued: ReadonlyMap<string, EarlierPoints>,
): Promise<readonly SyncSummary[]> {
  if (!syncs.some(({ endpoint, answers }) => endpoint === LOG_ENDPOINT && answers > 0)) return syncs;
  try {
    return await Promise.all(syncs.map((summary) => charged(warehouse, summary, continued)));
  } catch {
    return syncs;
  }
}

async function charged(
  { db, ops }: Warehouse,
  summary: SyncSummary,
  continued: ReadonlyMap<string, EarlierPoints>,
): Promise<SyncSummary> {
  const { runId } = summary;
  if (runId === null) return summary;
  const { points } = await operationsOf({ db, ops })
    .selectFrom('runs')
    .select('points')
    .where('id', '=', runId)
    .executeTakeFirstOrThrow();
  if (points === null) return summary;
  const earlier = continued.get(runId);
  const pointsNow = earlier && (await pointsSentSince({ db, ops }, runId, earlier));
  return { ...summary, points: Number(points), ...(pointsNow !== undefined && { pointsNow }) };
}
