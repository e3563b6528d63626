/** Takes a question out of the plan because its parts are asked in its place. */
import { sql } from 'kysely';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/**
 * Settles a planned request that was never sent as skipped, with why; returns its depth, or undefined when it is not
 * planned any more. Plan its parts in the same transaction.
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

/** True, in SQL, of a request that was skipped for its parts; `requests` is the name by which the query knows the ledger. */
export const isSplit = (requests: string) =>
  sql<boolean>`(${sql.ref(`${requests}.state`)} = 'skipped' and ${sql.ref(`${requests}.attempts`)} = 0 and ${sql.ref(`${requests}.next`)} is not null)`;
