/** Reads what alerts are about beside the ends of runs: the quarantine, and points left with their pace. */
import { sql } from 'kysely';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { PointsForecast, QuarantineCounts } from './conditions.ts';

/** Open entries of each of these syncs, also where there are none. */
export async function readQuarantineCounts(
  warehouse: Pick<Warehouse, 'db' | 'ops'>,
  syncs: readonly string[],
): Promise<QuarantineCounts> {
  if (syncs.length === 0) return [];
  const rows = await operationsOf(warehouse)
    .selectFrom('quarantine')
    .where('resolved_at', 'is', null)
    .where('sync', 'in', [...syncs])
    .groupBy('sync')
    .select(['sync', sql<number>`count(*)::float8`.as('open')])
    .execute();
  return syncs.map((sync) => ({ sync, open: rows.find((it) => it.sync === sync)?.open ?? 0 }));
}

/** Of this warehouse's tokens the one that lasts the shortest; undefined before the log tells a balance of one. */
export async function readPointsForecast({
  db,
  schema,
}: Pick<Warehouse, 'db' | 'schema'>): Promise<PointsForecast | undefined> {
  const { rows } = await sql<PointsForecast>`
    select points_left::float8 as "pointsLeft", told_at as "reportedAt", coalesce(points_per_day_7d, 0)::float8 as "pointsPerDay"
    from ${sql.id(schema, 'balance_forecast')} where is_ours and points_left is not null
    order by runs_out_at nulls last, points_left limit 1`.execute(db);
  return rows[0];
}
