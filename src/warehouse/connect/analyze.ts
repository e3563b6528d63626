/** Updates planner statistics, and reclaims dead rows where the database has no autovacuum. */
import { sql } from 'kysely';
import type { Warehouse } from './connect.ts';

/** A table of one of the two schemas. */
export interface TableRef {
  readonly area: 'analyst' | 'operations';
  readonly table: string;
}

type Target = Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db'>;

const schemaOf = ({ schema, ops }: Target, { area }: TableRef): string => (area === 'analyst' ? schema : ops);

/** The share of new rows from which on statistics count as outdated; autovacuum uses the same one. */
const OUTDATED_SHARE = 0.1;

/**
 * Returns the tables whose statistics are outdated after so many rows were written: those that were never analyzed, or
 * grew much since. In an embedded warehouse these are all tables, since their dead rows must go too.
 */
export async function outdatedTables(
  warehouse: Target,
  tables: readonly (TableRef & { readonly rows: number })[],
): Promise<readonly TableRef[]> {
  if (warehouse.kind === 'embedded') return tables;
  const { rows: known } = await sql<{ schema: string; table: string; rows: number }>`
    select n.nspname as schema, c.relname as table, c.reltuples as rows
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${warehouse.schema}, ${warehouse.ops}) and c.relkind = 'r' and c.reltuples >= 0`.execute(
    warehouse.db,
  );
  const rowsBefore = new Map(known.map(({ schema, table, rows }) => [`${schema}.${table}`, rows]));
  return tables.filter(
    (it) => it.rows > OUTDATED_SHARE * (rowsBefore.get(`${schemaOf(warehouse, it)}.${it.table}`) ?? 0),
  );
}

/**
 * Refreshes the statistics of these tables after a large load, each table once. It also vacuums them in an embedded
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
      await sql`${verb} ${name}`.execute(warehouse.db);
    }
  };
  // Two statements overlap: one reads a table while the other computes. If one loop throws, the other still finishes.
  for (const ended of await Promise.allSettled([work(), work()])) if (ended.status === 'rejected') throw ended.reason;
}
