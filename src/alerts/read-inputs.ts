/** Reads the inputs of alerts that are not ends of runs: the quarantine, and the points left with the rate of spending. */
import { sql } from 'kysely';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { FailedChecks, PointsForecast, QuarantineCounts } from './conditions.ts';

/** The number of open entries of each of these syncs, including zeros. */
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

/** The failed checks of each of these syncs, including syncs without any. */
export async function readFailedChecks(
  { db, schema }: Pick<Warehouse, 'db' | 'schema'>,
  syncs: readonly string[],
): Promise<FailedChecks> {
  const { rows } = await sql<{ sync: string; text: string }>`
    select sync, check_name || ': ' || message || '; allowed: ' || allowed as text from ${sql.id(schema, 'check_status')}
    where severity = 'error' and status in ('fail', 'error') order by sync, check_name`.execute(db);
  return syncs.map((sync) => ({ sync, failed: rows.filter((it) => it.sync === sync).map(({ text }) => text) }));
}

/**
 * The forecast of the token of this warehouse whose points run out first. Undefined until the log shows the balance of
 * such a token.
 */
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
