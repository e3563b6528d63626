/** Fills the new columns of some rows in one transaction, and renews the digests of these rows. */
import { lookUpByIndex } from '../../load/load.ts';
import { cellOf, loadHeads, loadStates } from '../../load/merge/stored-rows.ts';
import { rehash } from '../../load/rehash.ts';
import { rowsOfOwners, type RowTexts } from '../../load/sets/owned-sets.ts';
import type { SqlExecutor } from '../../load/sql/executor.ts';
import { parameterRows, typeOf } from '../../load/sql/statements.ts';
import type { Cell } from '../../normalize/batch.ts';
import type { ChildTable, RootTable, Table } from '../../warehouse/schema/table-types.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { qualified, quoted, quotedList, sameKey } from '../../warehouse/sql/identifiers.ts';
import { type FillableField, type MovedCells, moveValues } from './move-values.ts';

/** Rows per transaction: loads wait for a locked row only for a moment. */
const CHUNK = 500;

/** Counts of filled rows by table and column. */
export type FillCounts = Map<string, number>;

/** What to fill in one table. */
export interface Filling<T extends Table> {
  readonly table: T;
  readonly fields: readonly FillableField[];
}

/** Fills the rows that follow this key, in key order; returns the last key, or undefined after the last row. */
export async function fillChunk(
  run: SqlExecutor,
  root: Filling<RootTable>,
  lists: readonly Filling<ChildTable>[],
  after: readonly string[] | undefined,
): Promise<{ readonly counts: FillCounts; readonly last: readonly string[] | undefined }> {
  const { table } = root;
  const counts: FillCounts = new Map();
  await lookUpByIndex(run);
  const keys = await keysAfter(run, table, after);
  const ids = keys.map((key) => key.join('\0'));
  // Locked until the end, so that no load writes these rows meanwhile.
  await loadHeads(run, table, ids, 'no key update');
  await fillRoots(run, root, ids, counts);
  for (const list of lists) await fillLists(run, list, keys, counts);
  await rehash(run, table, ids);
  return { counts, last: keys.length < CHUNK ? undefined : keys.at(-1) };
}

async function keysAfter(
  run: SqlExecutor,
  table: RootTable,
  after: readonly string[] | undefined,
): Promise<readonly (readonly string[])[]> {
  const { key } = table;
  const parameters = key.map((column, index) => `$${index + 1}::${typeOf(table, column)}`);
  const where = after ? `where (${quotedList(key)}) > (${parameters.join(', ')})` : '';
  const found = await run.rows(
    `select row_to_json(r)::text as row from (
       select ${key.map((column) => `${quoted(column)}::text`).join(', ')} from ${qualified(run.schema, table.name)} t ${where}
       order by ${key.map((column) => `t.${quoted(column)}`).join(', ')} limit ${CHUNK}) r`,
    after ?? [],
  );
  return found.map((row) => key.map((column) => row[column] ?? ''));
}

async function fillRoots(
  run: SqlExecutor,
  { table, fields }: Filling<RootTable>,
  ids: readonly string[],
  counts: FillCounts,
): Promise<void> {
  if (fields.length === 0) return;
  const states = await loadStates(run, table, ids);
  const updates = [...states].flatMap(([id, { values }]) => {
    const cell = (column: string): Cell => values[table.slots.get(column) ?? -1] ?? null;
    const moved = moveValues(fields, cell);
    return moved ? [{ key: id.split('\0'), moved, cell }] : [];
  });
  await update(run, { table, fields }, updates, counts);
}

async function fillLists(
  run: SqlExecutor,
  { table, fields }: Filling<ChildTable>,
  keys: readonly (readonly string[])[],
  counts: FillCounts,
): Promise<void> {
  const owners = keys.map((key) => Object.fromEntries(table.parentKey.map((name, index) => [name, key[index] ?? ''])));
  const names = table.parentKey;
  const found = await rowsOfOwners(run, { table, names, hold: 'not' }, owners);
  const updates = [...found.values()].flat().flatMap((row: RowTexts) => {
    const cell = (column: string): Cell => cellOf(typeOf(table, column), row[column] ?? null);
    const moved = moveValues(fields, cell);
    return moved ? [{ key: table.key.map((name) => row[name] ?? ''), moved, cell }] : [];
  });
  await update(run, { table, fields }, updates, counts);
}

interface RowUpdate {
  readonly key: readonly string[];
  readonly moved: MovedCells;
  /** The stored cell of a column. */
  readonly cell: (column: string) => Cell;
}

async function update(
  run: SqlExecutor,
  { table, fields }: Filling<Table>,
  updates: readonly RowUpdate[],
  counts: FillCounts,
): Promise<void> {
  if (updates.length === 0) return;
  const columns = fields.flatMap((field) => field.columns);
  for (const column of columns) {
    const rows = updates.filter(({ moved }) => (moved[column] ?? null) !== null).length;
    counts.set(`${table.name} ${column}`, (counts.get(`${table.name} ${column}`) ?? 0) + rows);
  }
  const written = [...columns, 'extra'];
  await run.count(
    `update ${qualified(run.schema, table.name)} t set ${written.map((it) => `${quoted(it)} = u.${quoted(it)}`).join(', ')}
     from ${parameterRows(table, [...table.key, ...written], 'u')} where ${sameKey('t', table.key, 'u')}`,
    [
      ...table.key.map((_, index) => arrayLiteral(updates.map(({ key }) => key[index] ?? null))),
      ...written.map((column) =>
        arrayLiteral(updates.map(({ moved, cell }) => (column in moved ? (moved[column] ?? null) : cell(column)))),
      ),
    ],
  );
}
