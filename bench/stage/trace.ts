/** What a load leaves behind beside rows: write-ahead log, new row versions, dead rows. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { warehouseAt } from './batches.ts';

export interface Trace {
  /** Bytes of write-ahead log ever written. */
  readonly walAt: number;
  /** The transaction from which on versions are new. */
  readonly mark: string;
  /** Row versions in the tables for analysts that are newer than the mark given. */
  readonly versions: number;
  /** Rows in them that nobody can see since then and that still take their place; those of before are not counted. */
  readonly dead: number;
}

/** The state of a warehouse as of now; the mark of an earlier one says what is new. */
export async function traceOf(url: string, mark?: string): Promise<Trace> {
  const warehouse = await warehouseAt(url);
  try {
    const versions = mark === undefined ? 0 : await versionsSince(warehouse, mark);
    return {
      walAt: Number(await one(warehouse, sql`pg_current_wal_insert_lsn() - '0/0'::pg_lsn`)),
      mark: await one(warehouse, sql`pg_snapshot_xmax(pg_current_snapshot())`),
      versions,
      dead: mark === undefined ? 0 : await deadSince(warehouse, mark, versions),
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

/** Read off the pages where the server lets them be seen, else as the statistics estimate it, with those of before. */
async function deadSince(warehouse: Warehouse, mark: string, versions: number): Promise<number> {
  const { db, schema } = warehouse;
  const isSeen = await sql`create extension if not exists pageinspect`.execute(db).then(
    () => true,
    () => false,
  );
  const estimate = sql`(select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where schemaname = ${schema})`;
  if (!isSeen) return Number(await one(warehouse, estimate));
  const each = tables.map(({ name }) => {
    const table = `"${schema}"."${name}"`;
    return sql`(select count(*) from generate_series(0, pg_relation_size(${table}::regclass) / current_setting('block_size')::int - 1) as page,
      heap_page_items(get_raw_page(${table}, page::int)) where t_xmin::text::bigint >= ${mark}::bigint or ${isReplaced(mark)})`;
  });
  // Of the versions that were made since, those that can be seen are alive.
  return Number(await one(warehouse, sql`${sql.join(each, sql` + `)}`)) - versions;
}

/** Bits of a version's header: what `t_xmax` is not, or is instead of a transaction. */
const XMAX = { onlyLocks: 0x80, isVoid: 0x800, isMany: 0x1000 };

/** True of a version that was there before the mark and was updated or deleted since. */
const isReplaced = (mark: string) =>
  sql`t_infomask & ${XMAX.onlyLocks | XMAX.isVoid}::int = 0 and case when t_infomask & ${XMAX.isMany}::int = 0
    then t_xmax::text::bigint >= ${mark}::bigint
    else exists (select from pg_get_multixact_members(t_xmax) as m(xid, mode)
      where m.xid::text::bigint >= ${mark}::bigint and m.mode in ('nokeyupd', 'upd')) end`;
