/** The SQL by which a table is read and written, made once a table: arrays in, never one statement a row. */
import { copyInto } from '../../warehouse/sql/copy.ts';
import { quoted } from '../../warehouse/sql/identifiers.ts';
import type { Column, RootTable, Table } from '../../warehouse/schema/table-types.ts';

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

const made = new WeakMap<Table, Map<string, string>>();

/** The statement of this kind for this table and schema, made when it is first asked for. */
function once(schema: string, table: Table, kind: string, make: () => string): string {
  const known = made.get(table) ?? new Map<string, string>();
  made.set(table, known);
  const id = `${kind} ${schema}`;
  const statement = known.get(id) ?? make();
  known.set(id, statement);
  return statement;
}

/** A column as the text that its cell has. */
const asCell = ({ name, type }: Column): string =>
  type === 'timestamptz'
    ? `to_char(t.${quoted(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${quoted(name)}`
    : `t.${quoted(name)}::text as ${quoted(name)}`;

/** Rows as JSON: of a text that begins with U+FEFF by itself, the embedded warehouse's driver drops that letter. */
const asJson = (select: string): string => `select row_to_json(r)::text as row from (${select}) r`;

/** How rows are held against other writers while they are read: not at all, for an update, or for their deletion. */
export type RowLock = 'not' | 'no key update' | 'update';

const joined = (schema: string, table: Table, by: readonly string[]): string =>
  `from ${at(schema, table)} t join ${source(table, by, 'k')} on ${equal(by, 't', 'k')}`;

/**
 * Each row by the index of its key. In a join the planner would read a table of up to some hundred thousand rows whole,
 * which takes several times as long: it reckons with an index that is not in memory.
 */
const lookedUp = (schema: string, table: Table): string =>
  `from ${source(table, table.key, 'k')} cross join lateral (select * from ${at(schema, table)} t where ${equal(table.key, 't', 'k')} offset 0) t`;

/** Rows are locked in key order, or two writers could wait for each other. */
const held = (table: Table, hold: RowLock): string =>
  hold === 'not' ? '' : ` order by ${list(table.key, 't.')} for ${hold} of t`;

/** What a load must know of rows before it writes them; parameters are the key's columns. */
export const readHeads = (schema: string, table: RootTable, hold: RowLock): string =>
  once(schema, table, `heads ${hold}`, () => {
    const counts = table.children.map(({ count }) => `t.${quoted(count)}::text as ${quoted(count)}`);
    const keys = table.key.map((name) => `t.${quoted(name)}::text as ${quoted(name)}`);
    const detail = table.resource.shared ? ['t._detail'] : [];
    const select = [...keys, 't._answer_id::text as _answer_id', 't._part_hashes', ...detail, ...counts].join(', ');
    const from = hold === 'not' ? lookedUp(schema, table) : `${joined(schema, table, table.key)}${held(table, hold)}`;
    return asJson(`select ${select} ${from}`);
  });

/** What a row's head holds beside its columns. */
const OF_HEAD: readonly string[] = ['_detail', '_answer_id', '_part_hashes'];

/** Whole rows with their heads, each column as its cell's text; parameters are the key's columns. */
export const readRows = (schema: string, table: RootTable): string =>
  once(schema, table, 'rows', () => {
    const columns = table.columns.filter(({ name }) => !name.startsWith('_') || OF_HEAD.includes(name)).map(asCell);
    return asJson(`select ${columns.join(', ')} ${lookedUp(schema, table)}`);
  });

/** The rows of these owners, as cells' texts; parameters are the columns that name an owner. */
export const readOwned = (schema: string, table: Table, owner: readonly string[], hold: RowLock): string =>
  once(schema, table, `owned ${hold} ${owner.join(' ')}`, () => {
    const columns = table.columns.filter(({ name }) => !name.startsWith('_') || name === '_answer_id').map(asCell);
    return asJson(`select ${columns.join(', ')} ${joined(schema, table, owner)}${held(table, hold)}`);
  });

/** New rows; one that somebody else has added meanwhile is left alone. Parameters are all columns. */
export const insertRows = (schema: string, table: Table): string =>
  once(schema, table, 'insert', () => {
    const names = table.columns.map(({ name }) => name);
    return `insert into ${at(schema, table)} (${list(names)}) select ${list(names, 'i.')} from ${source(table, names, 'i')} on conflict do nothing`;
  });

/** The same rows, none of which may be there, as a text to copy. */
export const copyRows = (schema: string, table: Table): string =>
  once(schema, table, 'copy', () =>
    copyInto(
      schema,
      table.name,
      table.columns.map(({ name }) => name),
    ),
  );

/** Columns that an update tells: when a row was first seen stays as it is. */
export const updatedColumns = (table: Table): string[] =>
  table.columns.map(({ name }) => name).filter((name) => name !== '_first_seen_at');

/** Rows that exist; a null `_changed_at` keeps the one there. Parameters are the updated columns. */
export const updateRows = (schema: string, table: Table): string =>
  once(schema, table, 'update', () => {
    const names = updatedColumns(table);
    const sets = names
      .filter((name) => !table.key.includes(name))
      .map((name) =>
        name === '_changed_at'
          ? '_changed_at = coalesce(i._changed_at, t._changed_at)'
          : `${quoted(name)} = i.${quoted(name)}`,
      );
    return `update ${at(schema, table)} t set ${sets.join(', ')} from ${source(table, names, 'i')} where ${equal(table.key, 't', 'i')}`;
  });

/** All rows of these owners; parameters are the columns that name an owner. */
export const deleteOwned = (schema: string, table: Table, owner: readonly string[]): string =>
  once(
    schema,
    table,
    `delete ${owner.join(' ')}`,
    () => `delete from ${at(schema, table)} t using ${source(table, owner, 'o')} where ${equal(owner, 't', 'o')}`,
  );

/** Rows with these keys; parameters are the key's columns. */
export const deleteRows = (schema: string, table: Table): string => deleteOwned(schema, table, table.key);
