/** Points left by the service's own word. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect.ts';

/** The balance in the newest logged request that tells one; undefined before the log was ever read. */
export async function lastBalance(warehouse: Pick<Warehouse, 'db' | 'schema'>): Promise<number | undefined> {
  const { rows } = await sql<{ points_left: string }>`
    select points_left from ${sql.table(`${warehouse.schema}.fact_request_costs`)}
    where points_left is not null order by started_at desc limit 1`.execute(warehouse.db);
  return rows[0] && Number(rows[0].points_left);
}
