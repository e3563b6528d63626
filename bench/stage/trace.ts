/** What a load leaves behind beside rows: write-ahead log, new row versions, dead rows. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect.ts';
import { tables } from '../../src/warehouse/table.ts';
import { warehouseAt } from './batches.ts';

export interface Trace {
  /** Bytes of write-ahead log ever written. */
  readonly walAt: number;
  /** The transaction from which on versions are new. */
  readonly mark: string;
  /** Row versions in the tables for analysts that are newer than the mark given. */
  readonly versions: number;
  /** Rows in them that nobody can see and that still take their place. */
  readonly dead: number;
}

/** The state of a warehouse as of now; the mark of an earlier one says what is new. */
export async function traceOf(url: string, mark?: string): Promise<Trace> {
  const warehouse = await warehouseAt(url);
  try {
    return {
      walAt: Number(await one(warehouse, sql`pg_current_wal_insert_lsn() - '0/0'::pg_lsn`)),
      mark: await one(warehouse, sql`pg_snapshot_xmax(pg_current_snapshot())`),
      versions: mark === undefined ? 0 : await versionsSince(warehouse, mark),
      dead: await deadRows(warehouse),
    };
  } finally {
    await warehouse.close();
  }
}

type Expression = ReturnType<typeof sql>;

async function one({ db }: Warehouse, expression: Expression): Promise<string> {
  const { rows } = await sql<{ value: string }>`select (${expression})::text as value`.execute(db);
  return rows[0]?.value ?? '';
}

async function versionsSince(warehouse: Warehouse, mark: string): Promise<number> {
  const counts = tables.map(
    ({ name }) =>
      sql`(select count(*) from ${sql.id(warehouse.schema, name)} where xmin::text::bigint >= ${mark}::bigint)`,
  );
  return Number(await one(warehouse, sql`${sql.join(counts, sql` + `)}`));
}

/** Counted page by page where the server can, else as the statistics estimate it. */
async function deadRows(warehouse: Warehouse): Promise<number> {
  const counted = await withExtension(warehouse);
  const estimate = sql`(select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where schemaname = ${warehouse.schema})`;
  if (!counted) return Number(await one(warehouse, estimate));
  const each = tables.map(
    ({ name }) => sql`(select dead_tuple_count from pgstattuple(${`"${warehouse.schema}"."${name}"`}::regclass))`,
  );
  return Number(await one(warehouse, sql`${sql.join(each, sql` + `)}`));
}

async function withExtension({ db }: Warehouse): Promise<boolean> {
  return sql`create extension if not exists pgstattuple`.execute(db).then(
    () => true,
    () => false,
  );
}
