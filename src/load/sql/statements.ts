/**
 * The SQL that reads and writes a table, built once per table: with arrays as parameters, never one statement per row.
 */
import { copyInto } from '../../warehouse/sql/copy.ts';
import { qualified, quoted, quotedList, sameKey } from '../../warehouse/sql/identifiers.ts';
import { CAME, lastCame } from '../../warehouse/schema/history-tables.ts';
import type { ChangeTable, ChildTable, Column, RootTable, Table } from '../../warehouse/schema/table-types.ts';

/** The SQL type of a column. */
export const typeOf = (table: Table, name: string): string =>
  table.columns.find((it) => it.name === name)?.type ?? 'text';

/** `unnest($1::text[], ...)`, one array per column. */
export const arraysOf = (types: readonly string[]): string =>
  `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;

/** Rows with these columns from parameters, one array per column. */
export const parameterRows = (table: Table, names: readonly string[], as: string): string =>
  `${arraysOf(names.map((name) => typeOf(table, name)))} as ${as}(${quotedList(names)})`;

const made = new WeakMap<Table, Map<string, string>>();

/** Returns the statement of this kind for this table and schema, built on the first call. */
function once(schema: string, table: Table, kind: string, make: () => string): string {
  const known = made.get(table) ?? new Map<string, string>();
  made.set(table, known);
  const id = `${kind} ${schema}`;
  const statement = known.get(id) ?? make();
  known.set(id, statement);
  return statement;
}

const INSTANT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';

const asCell = ({ name, type }: Column): string =>
  type === 'timestamptz'
    ? `to_char(t.${quoted(name)} at time zone 'UTC', '${INSTANT}') as ${quoted(name)}`
    : `t.${quoted(name)}::text as ${quoted(name)}`;

/** Rows as JSON: the driver of the embedded warehouse drops U+FEFF at the beginning of a plain text. */
const asJson = (select: string): string => `select row_to_json(r)::text as row from (${select}) r`;

/** How rows are locked against other writers while they are read: not at all, for an update, or for their deletion. */
export type RowLock = 'not' | 'no key update' | 'update';

const joined = (schema: string, table: Table, by: readonly string[]): string =>
  `from ${qualified(schema, table.name)} t join ${parameterRows(table, by, 'k')} on ${sameKey('t', by, 'k')}`;

/**
 * Looks up each row by the index of its key. In a join, the planner would scan a table of up to some hundred thousand
 * rows. A scan takes several times as long, but the planner assumes that the index is not in memory.
 */
const lookedUp = (schema: string, table: Table, columns = '*'): string =>
  `from ${parameterRows(table, table.key, 'k')} cross join lateral (select ${columns} from ${qualified(schema, table.name)} t where ${sameKey('t', table.key, 'k')} offset 0) t`;

/** Lock rows in key order to avoid deadlocks. */
const held = (table: Table, hold: RowLock): string =>
  hold === 'not' ? '' : ` order by ${quotedList(table.key, 't.')} for ${hold} of t`;

const keysOf = (table: Table): string[] => table.key.map((name) => `t.${quoted(name)}::text as ${quoted(name)}`);

/** SQL that reads what a load must know of rows before it writes them; parameters are the key columns. */
export const readHeads = (schema: string, table: RootTable, hold: RowLock): string =>
  once(schema, table, `heads ${hold}`, () => {
    const counts = table.children.map(({ count }) => `t.${quoted(count)}::text as ${quoted(count)}`);
    const keys = keysOf(table);
    const detail = table.resource.shared ? ['t._detail'] : [];
    const select = [...keys, 't._answer_id::text as _answer_id', 't._part_hashes', ...detail, ...counts].join(', ');
    const from = hold === 'not' ? lookedUp(schema, table) : `${joined(schema, table, table.key)}${held(table, hold)}`;
    return asJson(`select ${select} ${from}`);
  });

/**
 * SQL that reads the keys of rows that this transaction wrote. It does not find what was written inside a savepoint, even a
 * released one. Parameters are the key columns.
 */
export const readOwnKeys = (schema: string, table: Table): string =>
  once(schema, table, 'own', () =>
    asJson(
      `select ${keysOf(table).join(', ')} ${lookedUp(schema, table, 'xmin, *')} where t.xmin = pg_current_xact_id()::xid`,
    ),
  );

/** Metadata columns that belong to a row's head. */
const OF_HEAD: readonly string[] = ['_detail', '_first_seen_at', '_answer_id', '_part_hashes'];

/**
 * SQL that reads complete rows with their heads, each column as the text of its cell; parameters are the key columns.
 */
export const readRows = (schema: string, table: RootTable): string =>
  once(schema, table, 'rows', () => {
    const columns = table.columns.filter(({ name }) => !name.startsWith('_') || OF_HEAD.includes(name)).map(asCell);
    return asJson(`select ${columns.join(', ')} ${lookedUp(schema, table)}`);
  });

/** SQL that reads the rows of these owners, as texts of cells; parameters are the owner columns. */
export const readOwned = (schema: string, table: Table, owner: readonly string[], hold: RowLock): string =>
  once(schema, table, `owned ${hold} ${owner.join(' ')}`, () => {
    const columns = table.columns.filter(({ name }) => !name.startsWith('_') || name === '_answer_id').map(asCell);
    return asJson(`select ${columns.join(', ')} ${joined(schema, table, owner)}${held(table, hold)}`);
  });

/**
 * SQL that reads the elements of these parents' lists, as texts of cells, each with the receipt of the answer that it
 * came with: from the log, or else that of its parent. Parameters are the key columns of the parents.
 */
export const readElements = (schema: string, parent: RootTable, list: ChildTable, log: ChangeTable): string =>
  once(schema, list, 'elements', () => {
    const ofParent = sameKey('p', parent.key, 't', list.parentKey);
    const came = `(${lastCame(qualified(schema, log.name), log, 't')})`;
    const cells = list.columns.map(asCell).join(', ');
    return asJson(
      `select ${cells}, coalesce(${came}, to_char(p._first_seen_at at time zone 'UTC', '${INSTANT}')) as ${quoted(CAME)} ${joined(schema, list, list.parentKey)} join ${qualified(schema, parent.name)} p on ${ofParent}`,
    );
  });

/** SQL that inserts new rows and ignores those that another writer inserted. Parameters are all columns. */
export const insertRows = (schema: string, table: Table): string =>
  once(schema, table, 'insert', () => {
    const names = table.columns.map(({ name }) => name);
    return `insert into ${qualified(schema, table.name)} (${quotedList(names)}) select ${quotedList(names, 'i.')} from ${parameterRows(table, names, 'i')} on conflict do nothing`;
  });

/** SQL that copies the same rows from text; none of them may exist. */
export const copyRows = (schema: string, table: Table): string =>
  once(schema, table, 'copy', () =>
    copyInto(
      schema,
      table.name,
      table.columns.map(({ name }) => name),
    ),
  );

/** The columns that an update writes: all except the time of the first observation. */
export const updatedColumns = (table: Table): string[] =>
  table.columns.map(({ name }) => name).filter((name) => name !== '_first_seen_at');

/** SQL that updates existing rows; a null `_changed_at` keeps the stored value. Parameters are the updated columns. */
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
    return `update ${qualified(schema, table.name)} t set ${sets.join(', ')} from ${parameterRows(table, names, 'i')} where ${sameKey('t', table.key, 'i')}`;
  });

/** SQL that deletes all rows of these owners; parameters are the owner columns. */
export const deleteOwned = (schema: string, table: Table, owner: readonly string[]): string =>
  once(
    schema,
    table,
    `delete ${owner.join(' ')}`,
    () =>
      `delete from ${qualified(schema, table.name)} t using ${parameterRows(table, owner, 'o')} where ${sameKey('t', owner, 'o')}`,
  );

/** SQL that deletes rows by key; parameters are the key columns. */
export const deleteRows = (schema: string, table: Table): string => deleteOwned(schema, table, table.key);
