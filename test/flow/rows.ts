/** What is in a warehouse, in forms that can be compared. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';

export type Rows = Readonly<Record<string, readonly string[]>>;

export interface Which {
  /** Also what differs on every call without the entity changing. */
  readonly volatile?: boolean;
  readonly without?: readonly string[];
  /** Also the columns about the load. */
  readonly machinery?: boolean;
}

/** Every row of the analysts' tables as text, in an order of its own; only tables that hold some. */
export async function rowsOf(
  warehouse: Warehouse,
  { volatile = false, without = [], machinery = false }: Which = {},
): Promise<Rows> {
  const used = await usedTables(warehouse);
  const all = tables
    .filter((table) => used.has(table.name) && !without.includes(table.name) && (volatile || !isVolatile(table)))
    .map((table) => {
      const columns = table.columns.filter(
        (it) => (machinery || !it.name.startsWith('_')) && (volatile || !it.volatile),
      );
      const list = sql.join(columns.map(({ name }) => sql.ref(name)));
      return sql`select ${sql.lit(table.name)} as name, x::text as row from (select ${list} from ${sql.table(`${warehouse.schema}.${table.name}`)}) x`;
    });
  if (all.length === 0) return {};
  const { rows } = await sql<{ name: string; row: string }>`${sql.join(all, sql` union all `)}`.execute(warehouse.db);
  const found: Record<string, string[]> = {};
  for (const { name, row } of rows) (found[name] ??= []).push(row);
  for (const texts of Object.values(found)) texts.sort();
  return found;
}

/**
 * The analysts' tables whose files are not empty: all with rows are among them. A statement about these alone takes a
 * fraction of the time of one about all tables, since the planner reads the description of each table and of its indexes.
 */
async function usedTables({ db, schema }: Warehouse): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select c.relname::text as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'r' and pg_relation_size(c.oid) > 0`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

const isVolatile = (table: Table): boolean => 'volatile' in table && table.volatile === true;

/** How many rows each of the analysts' tables holds, the empty ones included. */
export async function countsOf(warehouse: Warehouse): Promise<Readonly<Record<string, number>>> {
  const all = tables.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} as name, count(*)::int as n from ${sql.table(`${warehouse.schema}.${name}`)}`,
  );
  const { rows } = await sql<{ name: string; n: number }>`${sql.join(all, sql` union all `)}`.execute(warehouse.db);
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** Which version of each row of the analysts' tables there is; equal when nothing was written in between. */
export async function versionsOf(
  warehouse: Warehouse,
  without: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const used = await usedTables(warehouse);
  const wanted = tables.map(({ name }) => name).filter((name) => !without.includes(name));
  const all = wanted
    .filter((name) => used.has(name))
    .map(
      (name) => sql`
      select ${sql.lit(name)} as name, coalesce(string_agg(xmin::text || ' ' || ctid::text, ',' order by ctid), '') as all
      from ${sql.table(`${warehouse.schema}.${name}`)}`,
    );
  const { rows } =
    all.length === 0
      ? { rows: [] }
      : await sql<{ name: string; all: string }>`${sql.join(all, sql` union all `)}`.execute(warehouse.db);
  return Object.fromEntries([...wanted.map((name) => [name, '']), ...rows.map((it) => [it.name, it.all])]);
}

/** The rows that a statement gives, written with the schemas' names `sluice` and `sluice_ops`. */
export async function select<Row = Readonly<Record<string, unknown>>>(
  warehouse: Pick<Warehouse, 'db'>,
  statement: string,
): Promise<Row[]> {
  return (await sql.raw<Row>(statement).execute(warehouse.db)).rows;
}

/** Requests in the ledger by state, without those that looked for lost answers in the request log. */
export async function states(warehouse: Pick<Warehouse, 'db'>): Promise<Readonly<Record<string, number>>> {
  const rows = await select<{ state: string; n: string }>(
    warehouse,
    "select state, count(*) as n from sluice_ops.requests where sync not like '%:log' group by state order by state",
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}
