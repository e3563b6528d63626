/** What the ledger knows about the data of a sync, for its checks. */
import { sql } from 'kysely';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Run } from '../runs.ts';

/** Returns the items that earlier complete runs of the sync received from the service alone, the newest run first. */
export async function receivedBefore(
  ops: Ops,
  run: Pick<Run, 'id' | 'sync'>,
  hashes: readonly string[],
  most: number,
): Promise<readonly number[]> {
  const rows = await ops
    .selectFrom('runs')
    .select('received')
    .where('sync', '=', run.sync)
    .where('id', '<', run.id)
    .where('state', '=', 'complete')
    .where('scope', 'is', null)
    .where('definition_hash', 'in', [...hashes])
    .where('asked', '>', '0')
    .where('fresh', '=', '0')
    .orderBy('id', 'desc')
    .limit(most)
    .execute();
  return rows.map(({ received }) => Number(received));
}

/**
 * Returns the receipt of the newest loaded answer of the sync, or of another sync if it serves this run; undefined
 * without one. Unreadable answers, answers without data (412) and answers from the database's future do not count.
 */
export async function newestDataAt(
  ops: Ops,
  { id, sync }: Pick<Run, 'id' | 'sync'>,
  now: Date,
): Promise<Date | undefined> {
  const newest = ops
    .selectFrom('answers as a')
    .select('a.received_at')
    .where('a.loaded_at', 'is not', null)
    .where('a.status', '<', '300')
    .where('a.unreadable', '=', sql<boolean>`false`)
    .where('a.received_at', '<=', latestKnown(now))
    .orderBy('a.received_at', 'desc')
    .limit(1);
  const own = await newest.where('a.sync', '=', sync).executeTakeFirst();
  const served = await newest
    .innerJoin('requests as r', 'r.answer_id', 'a.id')
    .where('r.run_id', '=', id)
    .where('r.state', '=', 'fresh')
    .executeTakeFirst();
  const times = [own, served].flatMap((it) => it?.received_at ?? []);
  return times.toSorted((a, b) => b.getTime() - a.getTime())[0];
}
