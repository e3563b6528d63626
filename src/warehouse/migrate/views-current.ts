/** Whether a warehouse has the views of this version. Every start checks this, so the check loads no declarations. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Warehouse } from '../connect/connect.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

/** The table with the checksum of each view. It belongs to the migrator, as the table of applied migrations does. */
export const APPLIED_VIEWS = 'applied_views';

/** The digest of all declared views; a test compares it with them. */
export const VIEWS_DIGEST = '14bbb486baefd4a3147430b88dad252183c3c4f0cee013d61802cc51c377a290';

/** Whether the views were last created with the present queries. A view that a user dropped is drift, not outdated. */
export async function viewsAreCurrent(db: QueryExecutorProvider, { ops }: Pick<Warehouse, 'ops'>): Promise<boolean> {
  try {
    const { rows } = await sql<{ digest: string | null }>`
      select encode(sha256(convert_to(string_agg(name || ' ' || checksum, ',' order by name collate "C"), 'UTF8')), 'hex') as digest
      from ${sql.id(ops, APPLIED_VIEWS)}`.execute(db);
    return rows[0]?.digest === VIEWS_DIGEST;
  } catch (error) {
    if (errorCode(error) === SQL_STATE.undefinedTable) return false;
    throw error;
  }
}
