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
  const found: Record<string, readonly string[]> = {};
  for (const table of tables) {
    if (without.includes(table.name) || (!volatile && isVolatile(table))) continue;
    const columns = table.columns.filter((it) => (machinery || !it.name.startsWith('_')) && (volatile || !it.volatile));
    const list = sql.join(columns.map(({ name }) => sql.ref(name)));
    const { rows } = await sql<{ row: string }>`
      select x::text as row from (select ${list} from ${sql.table(`${warehouse.schema}.${table.name}`)}) x order by (x::text) collate "C"`.execute(
      warehouse.db,
    );
    if (rows.length > 0) found[table.name] = rows.map(({ row }) => row);
  }
  return found;
}

const isVolatile = (table: Table): boolean => 'volatile' in table && table.volatile === true;

/** How many rows each of the analysts' tables holds, the empty ones included. */
export async function countsOf(warehouse: Warehouse): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{
      n: string;
    }>`select count(*) as n from ${sql.table(`${warehouse.schema}.${name}`)}`.execute(warehouse.db);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

/** Which version of each row of the analysts' tables there is; equal when nothing was written in between. */
export async function versionsOf(
  warehouse: Warehouse,
  without: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const versions: Record<string, string> = {};
  for (const { name } of tables) {
    if (without.includes(name)) continue;
    const { rows } = await sql<{ all: string }>`
      select coalesce(string_agg(xmin::text || ' ' || ctid::text, ',' order by ctid), '') as all
      from ${sql.table(`${warehouse.schema}.${name}`)}`.execute(warehouse.db);
    versions[name] = rows[0]?.all ?? '';
  }
  return versions;
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
