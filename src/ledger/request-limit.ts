/** The limit of requests of a run: how many were sent, and those that a limited run leaves out. */
import { sql } from 'kysely';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** Returns how many requests of a run were sent, each counted once. */
export async function countSent(ops: Ops, runId: string): Promise<number> {
  const { n } = await ops
    .selectFrom('requests')
    .select(sql<string>`count(*)`.as('n'))
    .where('run_id', '=', runId)
    .where('attempts', '>', '0')
    .executeTakeFirstOrThrow();
  return Number(n);
}

/**
 * Skips the requests of a run that were never sent, with the reason. Returns how many were skipped, now or by an earlier
 * call.
 */
export async function skipUnsent(ops: Ops, runId: string, because: string): Promise<number> {
  await ops
    .updateTable('requests')
    .set({ state: 'skipped', error: because })
    .where('run_id', '=', runId)
    .where('state', '=', 'planned')
    .where('attempts', '=', '0')
    .execute();
  const { n } = await ops
    .selectFrom('requests')
    .select(sql<string>`count(*)`.as('n'))
    .where('run_id', '=', runId)
    .where('state', '=', 'skipped')
    .where('error', '=', because)
    .executeTakeFirstOrThrow();
  return Number(n);
}
