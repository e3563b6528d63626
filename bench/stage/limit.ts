/** The cost of the database itself: writes the final rows of tables again, by COPY and by bare upserts of arrays. */
import { CompiledQuery } from 'kysely';
import type { Client } from 'pg';
import { arrayLiteral } from '../../src/warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { quoted, quotedList } from '../../src/warehouse/sql/identifiers.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';
import { SCHEMA } from './batches.ts';
import { copyInto, copyOf } from './copy.ts';
import { connected } from './postgres.ts';

/** The rows of one table in the forms that COPY and the upserts need, prepared before the measurement. */
export interface Rows {
  readonly table: Table;
  readonly count: number;
  /** In the text format of COPY. */
  readonly text: Buffer;
  /** For each statement, an array literal for each column. */
  readonly chunks: readonly (readonly string[])[];
}

/** Enough rows that the fixed cost of a statement does not matter. */
const ROWS_IN_STATEMENT = 2_000;

const names = ({ columns }: Table): string => quotedList(columns.map(({ name }) => name));
const qualified = (table: Table): string => `${quoted(SCHEMA)}.${quoted(table.name)}`;

/** The rows of every table that has rows; tables come after the tables that they refer to. */
export function rowsOf(url: string): Promise<Rows[]> {
  return connected(url, async (client) => {
    const all: Rows[] = [];
    for (const table of tables) {
      const select = `select ${names(table)} from ${qualified(table)} order by ${orderOf(table)}`;
      const { rows } = await client.query<(string | null)[]>({ text: select, rowMode: 'array' });
      if (rows.length > 0)
        all.push({ table, count: rows.length, text: await copyOf(client, select), chunks: chunksOf(table, rows) });
    }
    return all;
  });
}

/** A row that refers to a row of the same table comes after all rows that do not. */
function orderOf(table: Table): string {
  const toSelf = table.foreignKeys.find((it) => it.table === table.name)?.columns[0];
  return [...(toSelf === undefined ? [] : [`${quoted(toSelf)} is not null`]), ...table.key.map(quoted)].join(', ');
}

const chunksOf = (table: Table, rows: readonly (readonly (string | null)[])[]): string[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_IN_STATEMENT) }, (_, chunk) => {
    const part = rows.slice(chunk * ROWS_IN_STATEMENT, (chunk + 1) * ROWS_IN_STATEMENT);
    return table.columns.map((_column, column) => arrayLiteral(part.map((row) => row[column] ?? null)));
  });

/** Writes the rows by COPY, a table at a time, each in a transaction of its own; returns milliseconds. */
export const byCopy = (url: string, rows: readonly Rows[]): Promise<number> =>
  timed(url, async (client) => {
    for (const { table, text } of rows) await copyInto(client, `${qualified(table)} (${names(table)})`, text);
  });

/** Writes the rows by `insert ... select from unnest(...) on conflict do update`; returns milliseconds. */
export const byUpsert = (url: string, rows: readonly Rows[]): Promise<number> =>
  timed(url, async (client) => {
    for (const { table, chunks } of rows)
      for (const values of chunks) await client.query({ name: table.name, text: upsertOf(table), values: [...values] });
  });

/** The same through the driver of a warehouse, for the embedded kind. */
export async function byUpsertIn({ db }: Warehouse, rows: readonly Rows[]): Promise<number> {
  const startedMs = performance.now();
  for (const { table, chunks } of rows)
    for (const values of chunks) await db.executeQuery(CompiledQuery.raw(upsertOf(table), [...values]));
  return performance.now() - startedMs;
}

function upsertOf(table: Table): string {
  const arrays = table.columns.map(({ type }, index) => `$${index + 1}::${type}[]`);
  const others = table.columns.filter(({ name }) => !table.key.includes(name));
  const sets = others.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`);
  const conflict = sets.length > 0 ? `do update set ${sets.join(', ')}` : 'do nothing';
  return `insert into ${qualified(table)} (${names(table)}) select * from unnest(${arrays.join(', ')}) on conflict (${quotedList(table.key)}) ${conflict}`;
}

const timed = (url: string, work: (client: Client) => Promise<void>): Promise<number> =>
  connected(url, async (client) => {
    const startedMs = performance.now();
    await work(client);
    return performance.now() - startedMs;
  });
