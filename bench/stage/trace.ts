/** The side effects of a load on the database: write-ahead log, new row versions, dead rows. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { warehouseAt } from './batches.ts';

export interface Trace {
  /** Bytes of write-ahead log since the server was created. */
  readonly walAt: number;
  /** The id of the next transaction: later row versions have this id or a greater one. */
  readonly nextXid: string;
  /** Row versions in the analyst tables that were created since the earlier state. */
  readonly versions: number;
  /** Row versions in the analyst tables that became dead since the earlier state and still occupy space. */
  readonly dead: number;
}

/** The current state of a warehouse; `since` is the `nextXid` of an earlier state. */
export async function traceOf(url: string, since?: string): Promise<Trace> {
  const warehouse = await warehouseAt(url);
  try {
    const versions = since === undefined ? 0 : await versionsSince(warehouse, since);
    return {
      walAt: Number(await one(warehouse, sql`pg_current_wal_insert_lsn() - '0/0'::pg_lsn`)),
      nextXid: await one(warehouse, sql`pg_snapshot_xmax(pg_current_snapshot())`),
      versions,
      dead: since === undefined ? 0 : await deadSince(warehouse, since, versions),
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

async function versionsSince(warehouse: Warehouse, xid: string): Promise<number> {
  const counts = tables.map(
    ({ name }) =>
      sql`(select count(*) from ${sql.id(warehouse.schema, name)} where xmin::text::bigint >= ${xid}::bigint)`,
  );
  return Number(await one(warehouse, sql`${sql.join(counts, sql` + `)}`));
}

/** Counted on the pages if the server allows to inspect them; otherwise the estimate of the statistics, with older dead rows. */
async function deadSince(warehouse: Warehouse, xid: string, versions: number): Promise<number> {
  const { db, schema } = warehouse;
  const canInspect = await sql`create extension if not exists pageinspect`.execute(db).then(
    () => true,
    () => false,
  );
  const estimate = sql`(select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where schemaname = ${schema})`;
  if (!canInspect) return Number(await one(warehouse, estimate));
  const each = tables.map(({ name }) => {
    const table = `"${schema}"."${name}"`;
    return sql`(select count(*) from generate_series(0, pg_relation_size(${table}::regclass) / current_setting('block_size')::int - 1) as page,
      heap_page_items(get_raw_page(${table}, page::int)) where t_xmin::text::bigint >= ${xid}::bigint or ${isReplaced(xid)})`;
  });
  // The live versions among the new ones are not dead.
  return Number(await one(warehouse, sql`${sql.join(each, sql` + `)}`)) - versions;
}

/** Bits of a version's header: `t_xmax` only locks, is invalid, or is a multixact. */
const XMAX = { onlyLocks: 0x80, isInvalid: 0x800, isMulti: 0x1000 };

/** True for a version that transaction `xid` or a later one updated or deleted. */
const isReplaced = (xid: string) =>
  sql`t_infomask & ${XMAX.onlyLocks | XMAX.isInvalid}::int = 0 and case when t_infomask & ${XMAX.isMulti}::int = 0
    then t_xmax::text::bigint >= ${xid}::bigint
    else exists (select from pg_get_multixact_members(t_xmax) as m(xid, mode)
      where m.xid::text::bigint >= ${xid}::bigint and m.mode in ('nokeyupd', 'upd')) end`;
