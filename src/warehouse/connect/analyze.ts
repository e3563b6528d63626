/** Updates planner statistics, and reclaims dead rows where the database has no autovacuum. */
import { sql } from 'kysely';
import { serverVersion } from '../sql/server-version.ts';
import type { Warehouse } from './connect.ts';
import { runLong } from './long-work.ts';

/** A table of one of the two schemas. */
export interface TableRef {
  readonly area: 'analyst' | 'operations';
  readonly table: string;
}

type Target = Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db' | 'longWork'>;

const schemaOf = ({ schema, ops }: Target, { area }: TableRef): string => (area === 'analyst' ? schema : ops);

/** The share of new rows from which on statistics count as outdated; autovacuum uses the same one. */
const OUTDATED_SHARE = 0.1;

/**
 * Returns the tables whose statistics are outdated after so many rows were written, and which the database does not
 * analyze by itself: those that were never analyzed, or grew much since. In an embedded warehouse these are all tables,
 * since their dead rows must go too.
 */
export async function outdatedTables(
  warehouse: Target,
  tables: readonly (TableRef & { readonly rows: number })[],
): Promise<readonly TableRef[]> {
  if (warehouse.kind === 'embedded') return tables;
  const { rows: unattended } = await sql<{ schema: string; table: string; rows: number }>`
    select n.nspname as schema, c.relname as table, greatest(c.reltuples, 0) as rows
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${warehouse.schema}, ${warehouse.ops}) and c.relkind = 'r'
      and not (${HAS_AUTOVACUUM} and ${IS_INCLUDED})`.execute(warehouse.db);
  const rowsBefore = new Map(unattended.map(({ schema, table, rows }) => [`${schema}.${table}`, rows]));
  return tables.filter((it) => {
    const before = rowsBefore.get(`${schemaOf(warehouse, it)}.${it.table}`);
    return before !== undefined && it.rows > OUTDATED_SHARE * before;
  });
}

/** True on a server that analyzes tables by itself, a minute after they changed by default. */
const HAS_AUTOVACUUM = sql`current_setting('autovacuum')::boolean and current_setting('track_counts')::boolean`;

/** True for a table `c` that its owner did not exclude from that. */
const IS_INCLUDED = sql`coalesce((
  select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_enabled'), true)`;

/**
 * Refreshes the statistics of these tables, each table once. It also vacuums them in an embedded
 * warehouse, which has no autovacuum. Must not run inside a transaction.
 */
export async function analyzeTables(
  warehouse: Target,
  tables: readonly TableRef[],
  signal?: AbortSignal,
): Promise<void> {
  const names = new Map(tables.map((it) => [`${it.area}.${it.table}`, sql.id(schemaOf(warehouse, it), it.table)]));
  const verb = sql.raw(warehouse.kind === 'embedded' ? 'vacuum (analyze)' : 'analyze');
  const remaining = names.values();
  const work = async (): Promise<void> => {
    for (const name of remaining) {
      signal?.throwIfAborted();
      await runLong(warehouse, () => sql`${verb} ${name}`.execute(warehouse.db));
    }
  };
  // Two statements overlap: one reads a table while the other computes. If one loop throws, the other still finishes.
  for (const ended of await Promise.allSettled([work(), work()])) if (ended.status === 'rejected') throw ended.reason;
}

/**
 * Removes the values of deleted rows from the statistics, which hold frequent values. Tables that another session
 * analyzes at this moment are included. Before Postgres 18, a table without rows keeps its statistics.
 */
export async function removeDeletedValues(warehouse: Target, signal?: AbortSignal): Promise<void> {
  const { schema, ops, db } = warehouse;
  const { rows } = await sql<TableRef>`
    select distinct case when schema = ${schema} then 'analyst' else 'operations' end as area, "table"
    from (
      select schemaname, tablename from pg_stats
      union all
      select n.nspname, c.relname from pg_locks l
      join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      where l.mode = 'ShareUpdateExclusiveLock' and c.relkind = 'r'
        and l.database = (select oid from pg_database where datname = current_database())
    ) t (schema, "table") where schema in (${schema}, ${ops})`.execute(db);
  await analyzeTables(warehouse, rows, signal);
  if ((await serverVersion(db)) < CLEARS_STATISTICS_FROM) return;
  await sql`
    select pg_clear_attribute_stats(s.schemaname::text, s.tablename::text, s.attname::text, s.inherited)
    from pg_stats s join pg_namespace n on n.nspname = s.schemaname
    join pg_class c on c.relnamespace = n.oid and c.relname = s.tablename
    where n.nspname in (${schema}, ${ops}) and c.reltuples = 0`.execute(db);
}

/** The Postgres version from which on a function removes the statistics of a column. */
const CLEARS_STATISTICS_FROM = 18;
