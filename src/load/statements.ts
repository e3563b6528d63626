/** The SQL by which a table is read and written, made once a table: arrays in, never one statement a row. */
import { quoted } from '../warehouse/identifier.ts';
import type { Column, RootTable, Table } from '../warehouse/table.ts';

const list = (names: readonly string[], prefix = ''): string => names.map((name) => prefix + quoted(name)).join(', ');
const equal = (names: readonly string[], a: string, b: string): string =>
  names.map((name) => `${a}.${quoted(name)} = ${b}.${quoted(name)}`).join(' and ');

const typeOf = (table: Table, name: string): string => table.columns.find((it) => it.name === name)?.type ?? 'text';

/** `unnest($1::text[], ...)`, one array a column. */
const arrays = (table: Table, names: readonly string[]): string =>
  `unnest(${names.map((name, index) => `$${index + 1}::${typeOf(table, name)}[]`).join(', ')})`;

const source = (table: Table, names: readonly string[], as: string): string =>
  `${arrays(table, names)} as ${as}(${list(names)})`;

const at = (schema: string, table: Table): string => `${quoted(schema)}.${quoted(table.name)}`;

/** A column as the text that its cell has. */
const asCell = ({ name, type }: Column): string =>
  type === 'timestamptz'
    ? `to_char(t.${quoted(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${quoted(name)}`
    : `t.${quoted(name)}::text as ${quoted(name)}`;

/** Rows as JSON: of a text that begins with U+FEFF by itself, the embedded warehouse's driver drops that letter. */
const asJson = (select: string): string => `select row_to_json(r)::text as row from (${select}) r`;

/** What a load must know of rows before it writes them; parameters are the key's columns. */
export function readHeads(schema: string, table: RootTable, lock: boolean): string {
  const counts = table.children.map(({ count }) => `t.${quoted(count)}::text as ${quoted(count)}`);
  const keys = table.key.map((name) => `t.${quoted(name)}::text as ${quoted(name)}`);
  const select = [...keys, 't._answer_id::text as _answer_id', 't._part_hashes', ...counts].join(', ');
  const from = `select ${select} from ${at(schema, table)} t join ${source(table, table.key, 'k')} on ${equal(table.key, 't', 'k')}`;
  // Rows are locked in key order, or two writers could wait for each other.
  return asJson(lock ? `${from} order by ${list(table.key, 't.')} for no key update of t` : from);
}

/** Whole rows, each column as its cell's text; parameters are the key's columns. */
export function readRows(schema: string, table: RootTable): string {
  const columns = table.columns.filter(({ name }) => !name.startsWith('_') || name === '_detail').map(asCell);
  const from = `from ${at(schema, table)} t join ${source(table, table.key, 'k')} on ${equal(table.key, 't', 'k')}`;
  return asJson(`select ${columns.join(', ')} ${from}`);
}

/** New rows; one that somebody else has added meanwhile is left alone. Parameters are the named columns. */
export const insertRows = (schema: string, table: Table, names: readonly string[]): string =>
  `insert into ${at(schema, table)} (${list(names)}) select ${list(names, 'i.')} from ${source(table, names, 'i')} on conflict do nothing`;

/** Rows that exist; a null `_changed_at` keeps the one there. Parameters are the named columns, the key's among them. */
export function updateRows(schema: string, table: Table, names: readonly string[]): string {
  const sets = names
    .filter((name) => !table.key.includes(name))
    .map((name) =>
      name === '_changed_at'
        ? '_changed_at = coalesce(i._changed_at, t._changed_at)'
        : `${quoted(name)} = i.${quoted(name)}`,
    );
  return `update ${at(schema, table)} t set ${sets.join(', ')} from ${source(table, names, 'i')} where ${equal(table.key, 't', 'i')}`;
}

/** All rows of these owners; parameters are the columns that name an owner. */
export const deleteOwned = (schema: string, table: Table, owner: readonly string[]): string =>
  `delete from ${at(schema, table)} t using ${source(table, owner, 'o')} where ${equal(owner, 't', 'o')}`;

/** Rows with these keys; parameters are the key's columns. */
export const deleteRows = (schema: string, table: Table): string => deleteOwned(schema, table, table.key);

/** The rows of one owner, as cells' texts; parameters are one-element arrays of the columns that name the owner. */
export function readOwned(schema: string, table: Table, owner: readonly string[], lock: boolean): string {
  const columns = table.columns.filter(({ name }) => !name.startsWith('_') || name === '_answer_id').map(asCell);
  const from = `from ${at(schema, table)} t join ${source(table, owner, 'o')} on ${equal(owner, 't', 'o')}`;
  const order = lock ? ` order by ${list(table.key, 't.')} for update of t` : '';
  return asJson(`select ${columns.join(', ')} ${from}${order}`);
}
