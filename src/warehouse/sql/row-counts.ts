/** The numbers of rows of tables: counted for small ones, estimated by the database for large ones. */
import { sql } from 'kysely';
import type { Warehouse } from '../connect/connect.ts';

/** Tables up to this size are counted; for larger ones the estimate of the database is accurate enough. */
const COUNTED_BYTES = 8 * 2 ** 20;

export interface RowCount {
  readonly table: string;
  readonly rows: number;
}

/** Returns the number of rows of each of these tables that the schema has, by name. */
export async function readRowCounts(
  db: Warehouse['db'],
  schema: string,
  isWanted: (table: string) => boolean,
): Promise<RowCount[]> {
  const { rows } = await sql<{ name: string; bytes: number; estimate: number }>`
    select relname as name, pg_relation_size(c.oid)::float8 as bytes, reltuples::float8 as estimate
    from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = ${schema} and relkind in ('r', 'p')
    order by relname`.execute(db);
  const counts: RowCount[] = [];
  for (const { name, bytes, estimate } of rows.filter((it) => isWanted(it.name))) {
    const isEstimated = bytes > COUNTED_BYTES && estimate >= 0;
    counts.push({ table: name, rows: isEstimated ? estimate : await countOf(db, schema, name) });
  }
  return counts;
}

async function countOf(db: Warehouse['db'], schema: string, name: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::float8 as n from ${sql.id(schema, name)}`.execute(db);
  return rows[0]?.n ?? 0;
}
