/**
 * Fills columns that a migration added, from the values that earlier answers left in `extra`, and renews the digests of
 * the rows. Times and answers of the rows stay, because the entities did not change.
 */
import { sqlExecutorOn } from '../../load/sql/executor.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { runLong } from '../../warehouse/connect/long-work.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { ChangeTable, ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { isDeclaredInAnswer } from '../promote/field-place.ts';
import { type FillCounts, fillChunk, type Filling } from './fill-chunk.ts';
import { fillLogChunk } from './fill-log.ts';
import { type FillableField, fillableFields } from './move-values.ts';
import { removeUnknownFields } from './remove-unknown-fields.ts';

/** A column, and how many rows got a value. */
export interface FilledColumn {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/**
 * Fills the columns that are recorded as changed, and returns what it filled. It can be repeated, also at the same time
 * as loads and other fills. When the signal aborts, the record stays, and the next load begins again.
 */
export async function fillColumns(
  warehouse: Warehouse,
  effects: RetryEffects,
  signal?: AbortSignal,
): Promise<readonly FilledColumn[]> {
  return (await fill(warehouse, effects, signal)).filled;
}

async function fill(
  warehouse: Warehouse,
  effects: RetryEffects,
  signal: AbortSignal | undefined,
): Promise<{ readonly filled: readonly FilledColumn[]; readonly isComplete: boolean }> {
  const ops = operationsOf(warehouse);
  const changed = await retryTransient(() => ops.selectFrom('changed_columns').selectAll().execute(), effects);
  const filled: FilledColumn[] = [];
  for (const table of rootTables) {
    const names = [table.name, ...table.children.map(({ name }) => name)];
    const due = changed.filter((it) => names.includes(it.table_name));
    if (due.length === 0) continue;
    const counts = await fillTable(warehouse, table, due, effects, signal);
    if (!counts) return { filled, isComplete: false };
    for (const { table_name: name, column_name: column } of due) {
      const rows = counts.get(`${name} ${column}`);
      if (rows !== undefined) filled.push({ table: name, column, rows });
    }
    await retryTransient(() => removeFilled(ops, due), effects);
  }
  if (changed.length > 0) await retryTransient(() => removeUnknownFields(ops, isDeclaredInAnswer), effects);
  return { filled, isComplete: true };
}

/** Deletes these records. A migration may have added others meanwhile. */
async function removeFilled(ops: Ops, due: readonly ChangedColumn[]): Promise<void> {
  for (const { table_name: table, column_name: column } of due)
    await ops.deleteFrom('changed_columns').where('table_name', '=', table).where('column_name', '=', column).execute();
}

const done = new WeakMap<Warehouse, Promise<boolean>>();

/**
 * Fills the columns before the first load of this process into the warehouse. Returns false if the signal aborted before
 * all were filled: then nothing may be loaded.
 */
export async function fillColumnsOnce(
  warehouse: Warehouse,
  effects: RetryEffects,
  signal?: AbortSignal,
): Promise<boolean> {
  const filling = done.get(warehouse) ?? fill(warehouse, effects, signal).then(({ isComplete }) => isComplete);
  done.set(warehouse, filling);
  try {
    if (await filling) return true;
  } catch (error) {
    if (done.get(warehouse) === filling) done.delete(warehouse);
    throw error;
  }
  if (done.get(warehouse) === filling) done.delete(warehouse);
  // The signal of another caller may have ended it.
  return signal?.aborted === true ? false : fillColumnsOnce(warehouse, effects, signal);
}

interface ChangedColumn {
  readonly table_name: string;
  readonly column_name: string;
}

/** Fills the columns of a table and of its lists; undefined if the signal aborted. */
async function fillTable(
  warehouse: Warehouse,
  table: RootTable,
  changed: readonly ChangedColumn[],
  effects: RetryEffects,
  signal: AbortSignal | undefined,
): Promise<FillCounts | undefined> {
  const fieldsOf = (name: string): readonly FillableField[] =>
    (fillableFields().get(name) ?? []).filter(({ columns }) =>
      changed.some((it) => it.table_name === name && columns.includes(it.column_name)),
    );
  const root: Filling<RootTable> = { table, fields: fieldsOf(table.name) };
  const lists = table.children
    .map((child): Filling<ChildTable> => ({ table: child, fields: fieldsOf(child.name) }))
    .filter(({ fields }) => fields.length > 0);
  const counts: FillCounts = new Map(
    [root, ...lists].flatMap(({ table: { name }, fields }) =>
      fields.flatMap(({ columns }) => columns.map((column) => [`${name} ${column}`, 0] as const)),
    ),
  );
  for (const {
    table: { changes },
    fields,
  } of [root, ...lists]) {
    if (!changes || fields.length === 0) continue;
    if (!(await fillLog(warehouse, changes, fields, effects, signal))) return undefined;
  }
  let after: readonly string[] | undefined;
  do {
    if (signal?.aborted === true) return undefined;
    const from = after;
    const fillNext = (tx: Warehouse['db']) => fillChunk(sqlExecutorOn(tx, warehouse.schema), root, lists, from);
    const chunk = await runLong(warehouse, () => retryTransaction(warehouse.db, fillNext, effects));
    for (const [column, rows] of chunk.counts) counts.set(column, (counts.get(column) ?? 0) + rows);
    after = chunk.last;
  } while (after);
  return counts;
}

/** Moves the logged values of a table; false if the signal aborted. */
async function fillLog(
  warehouse: Warehouse,
  log: ChangeTable,
  fields: readonly FillableField[],
  effects: RetryEffects,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let after: readonly string[] | undefined;
  do {
    if (signal?.aborted === true) return false;
    const from = after;
    const fillNext = (tx: Warehouse['db']) => fillLogChunk(sqlExecutorOn(tx, warehouse.schema), log, fields, from);
    after = await runLong(warehouse, () => retryTransaction(warehouse.db, fillNext, effects));
  } while (after);
  return true;
}
