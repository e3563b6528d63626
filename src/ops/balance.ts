/** Points left by the service's own word. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect.ts';

export interface Balance {
  readonly points: number;
  /** When the request began that tells it; what was sent since is not in it. */
  readonly at: Date;
}

/** The balance in the newest logged request that tells one; undefined before the log was ever read. */
export async function lastBalance(warehouse: Pick<Warehouse, 'db' | 'schema'>): Promise<Balance | undefined> {
  const { rows } = await sql<{ points_left: string; started_at: Date }>`
    select points_left, started_at from ${sql.table(`${warehouse.schema}.fact_request_costs`)}
    where points_left is not null order by started_at desc limit 1`.execute(warehouse.db);
  return rows[0] && { points: Number(rows[0].points_left), at: rows[0].started_at };
}
