/**
 * Records the columns that a migration adds to, or removes from, tables with rows. The digests of these rows do not cover
 * them, so a load would take every row for changed. The next load fills the columns and renews the digests.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { SchemaNames, Warehouse } from '../connect/connect.ts';
import { tables } from '../schema/tables.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import { relationExists } from '../sql/relation-exists.ts';
import { hasRows, type PresentColumn, presentColumns } from './present-columns.ts';

/** The table of the columns that are not filled yet. */
export const CHANGED_COLUMNS = 'changed_columns';

/** The declared tables whose rows have digests, or belong to rows with digests. */
const digested = new Set(tables.filter(({ kind }) => kind === 'root' || kind === 'child').map(({ name }) => name));

/** The result of the work, which may change columns. Columns that differ afterwards are recorded. */
export async function recordingChangedColumns<T>(
  trx: QueryExecutorProvider,
  names: SchemaNames,
  work: () => Promise<T>,
): Promise<T> {
  const before = await digestedColumns(trx, names);
  const result = await work();
  const after = await digestedColumns(trx, names);
  if (!(await relationExists(trx, names.ops, CHANGED_COLUMNS))) return result;
  const changed = [...lackedBy(before, after), ...lackedBy(after, before)];
  const filled = new Set<string>();
  for (const table of new Set(changed.map((it) => it.table)))
    if (await hasRows(trx, { schema: names.schema, table })) filled.add(table);
  const due = changed.filter(({ table }) => filled.has(table));
  if (due.length > 0)
    await sql`insert into ${sql.id(names.ops, CHANGED_COLUMNS)} (table_name, column_name)
      select * from unnest(${arrayLiteral(due.map(({ table }) => table))}::text[], ${arrayLiteral(due.map(({ column }) => column))}::text[])
      on conflict do nothing`.execute(trx);
  return result;
}

/** The columns that the next load fills, as `table.column`. The schema must be current. */
export async function unfilledColumns({ db, ops }: Pick<Warehouse, 'db' | 'ops'>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from ${sql.id(ops, CHANGED_COLUMNS)} order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/** The columns of the second list whose tables are in both lists, and that only the second one has. */
function lackedBy(one: readonly PresentColumn[], other: readonly PresentColumn[]): PresentColumn[] {
  const tablesOfOne = new Set(one.map(({ table }) => table));
  const known = new Set(one.map(({ table, column }) => `${table} ${column}`));
  return other.filter(({ table, column }) => tablesOfOne.has(table) && !known.has(`${table} ${column}`));
}

/** Columns about the load have no digests, so they are left out. */
async function digestedColumns(db: QueryExecutorProvider, { schema }: SchemaNames): Promise<PresentColumn[]> {
  const columns = await presentColumns(db, [schema]);
  return columns.filter(({ table, isView, column }) => !isView && digested.has(table) && !column.startsWith('_'));
}
