/** Removes a question from the plan because its parts are requested instead. */
import { sql } from 'kysely';
import type { Ops } from '../../warehouse/connect/operations-db.ts';

/**
 * Settles a planned request that was never sent as skipped, with the reason; returns its depth, or undefined if it is
 * no longer planned. Plan its parts in the same transaction.
 */
export async function skipForSplit(ops: Ops, id: string, because: string, at: Date): Promise<number | undefined> {
  const skipped = await ops
    .updateTable('requests')
    .set({ state: 'skipped', finished_at: at.toISOString(), next: because })
    .where('id', '=', id)
    .where('state', '=', 'planned')
    .where('attempts', '=', '0')
    .returning('depth')
    .executeTakeFirst();
  return skipped && Number(skipped.depth);
}

/** SQL condition that a request was skipped for its parts; `requests` is the table's alias in the query. */
export const isSplit = (requests: string) =>
  sql<boolean>`(${sql.ref(`${requests}.state`)} = 'skipped' and ${sql.ref(`${requests}.attempts`)} = 0 and ${sql.ref(`${requests}.next`)} is not null)`;
