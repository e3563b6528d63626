/**
 * Logs changes of an entity's attributes: the values before and after, the time and the answer. The log follows the
 * row, so a lesser observation that leaves the row unchanged logs nothing. A late answer, loaded after a newer one, is
 * inserted between the known changes. A row that an answer removes becomes null in all attributes.
 */
import type { Cell } from '../../normalize/batch.ts';
import { digestOf } from '../../service/canonical-json.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { CAME } from '../../warehouse/schema/history-tables.ts';
import type { SqlExecutor } from '../sql/executor.ts';
import type { ChangeTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { RowChange } from '../merge/receipt-builder.ts';
import { insertChanges, insertLateChanges } from './change-log-sql.ts';
import type { MergeResult } from '../merge/merge.ts';
import { loadRows, type StoredRow } from '../merge/stored-rows.ts';
import type { DeletedRow } from '../sets/owned-sets.ts';
import type { AnswerReceived, AnswerRows, HistoryTarget, ObservationsById } from './observations.ts';
import { isFull, observe, type RowState } from '../merge/observe.ts';

/** One entity, its observations by answers, and the result of each. */
export interface ComparedRow {
  readonly id: string;
  /** The stored row before the load. */
  readonly before: RowState | undefined;
  readonly answers: readonly AnswerRows[];
  /** The results, one for each of `answers`. */
  readonly changes: readonly RowChange[];
}

/** One line of a log; `id` holds the key. */
export interface Change {
  readonly id: string;
  readonly attribute: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly by: AnswerReceived;
}

/**
 * Logs the changes of a table's entities, and the rows that answers remove; does nothing for a table without a log. Call
 * it after new rows are inserted and the others are locked, but before they are written, since it reads the old values
 * that the merge did not need.
 */
export async function logChanges(
  target: HistoryTarget,
  observations: ObservationsById,
  results: readonly MergeResult[],
  removed: readonly DeletedRow[],
): Promise<void> {
  const { executor, table } = target;
  if (!table.changes) return;
  const logged = results.filter(({ steps }) => steps.some(({ change }) => LOGGED.includes(change)));
  const unread = logged.filter(({ stored, row }) => stored && !row);
  const ids = [...unread, ...removed].map(({ id }) => id);
  const before = await loadRows(executor, table, ids);
  const compared = logged.map(({ id, row, steps }): ComparedRow => {
    const rowChanges = steps.map(({ change }) => change);
    return { id, before: row ?? before.get(id)?.state, answers: observations.get(id) ?? [], changes: rowChanges };
  });
  await writeChanges(target, table.changes, compared);
  await writeLines(executor, table.changes, removalsOf(target, table.changes, before, removed));
}

/** The lines of removed rows, which the log keeps. */
function removalsOf(
  { table, contexts }: HistoryTarget,
  log: ChangeTable,
  before: ReadonlyMap<string, StoredRow>,
  removed: readonly DeletedRow[],
): Change[] {
  const attributes = attributesOf(log, table);
  return removed.flatMap(({ id, answer }) => {
    const row = before.get(id);
    const by = contexts[answer];
    if (!row || !by) return [];
    const values = attributes.map(({ name, slot, valueOf }) => [name, valueOf(row.state.values[slot])] as const);
    return removal(id, by, [[CAME, row.firstSeenAt], ...values]);
  });
}

/** The lines of a removed row, one for each value. */
export const removal = (
  id: string,
  by: AnswerReceived,
  values: readonly (readonly [attribute: string, value: string | null])[],
): Change[] => values.flatMap(([attribute, from]) => (from === null ? [] : [{ id, attribute, from, to: null, by }]));

/** The results that the log records. */
const LOGGED: readonly RowChange[] = ['changed', 'superseded'];

/** Writes the changes of these entities, and inserts late values between the known changes. */
export async function writeChanges(
  target: HistoryTarget,
  log: ChangeTable,
  compared: readonly ComparedRow[],
): Promise<void> {
  const { executor, table, contexts } = target;
  const attributes = attributesOf(log, table);
  const changes = Map.groupBy(
    compared.flatMap((it) => changesOf(table, attributes, contexts, it)),
    ({ by }) => by,
  );
  const late = Map.groupBy(lateOf(table, attributes, contexts, compared), ({ by }) => by);
  // In the order of the answers, because a late value is inserted between the changes that are known when its answer is loaded.
  let pending: Change[] = [];
  for (const by of contexts) {
    pending = pending.concat(changes.get(by) ?? []);
    const values = late.get(by);
    if (!values) continue;
    await writeLines(executor, log, pending);
    await executor.write(insertLateChanges(executor.schema, { table, log }), [
      ...valuesOf(log, values),
      arrayLiteral(values.map(({ rowValue }) => rowValue)),
      arrayLiteral(values.map(({ isRowKnown }) => isRowKnown)),
    ]);
    pending = [];
  }
  await writeLines(executor, log, pending);
}

/** Writes lines of a log; those that it has are ignored. */
export async function writeLines(executor: SqlExecutor, log: ChangeTable, changes: readonly Change[]): Promise<void> {
  if (changes.length > 0) await executor.write(insertChanges(executor.schema, log), valuesOf(log, changes));
}

const attributesOf = ({ attributes, digested }: ChangeTable, { slots }: RootTable): Attribute[] =>
  attributes.map((name) => {
    const valueOf = digested.includes(name) ? digestOfCell : textOf;
    return { name, slot: slots.get(name) ?? -1, valueOf };
  });

/** A logged column, and its slot in a row. */
interface Attribute {
  readonly name: string;
  readonly slot: number;
  /** The logged value of a cell. */
  readonly valueOf: (cell: Cell | undefined) => string | null;
}

/** The changes of one entity, in the order of the answers. */
function changesOf(
  table: RootTable,
  attributes: readonly Attribute[],
  answers: readonly AnswerReceived[],
  { id, before, answers: shown, changes: rowChanges }: ComparedRow,
): readonly Change[] {
  const changes: Change[] = [];
  let known = before;
  for (const [index, { answer, rows }] of shown.entries()) {
    const by = answers[answer];
    if (!by || rowChanges[index] === 'superseded') continue;
    const state = rows.reduce<RowState | undefined>((before, row) => observe(table, before, row), known);
    if (known && state && rowChanges[index] === 'changed')
      for (const difference of differences(attributes, known, state)) changes.push({ id, by, ...difference });
    known = state;
  }
  return changes;
}

/**
 * A preview may omit an attribute, so its later appearance is not a change. An attribute that is missing in a full answer
 * did not exist.
 */
function differences(attributes: readonly Attribute[], known: RowState, state: RowState): Omit<Change, 'id' | 'by'>[] {
  return attributes.flatMap(({ name, slot, valueOf }) => {
    const from = valueOf(known.values[slot]);
    const to = valueOf(state.values[slot]);
    return from === to || (from === null && known.detail !== 'full') ? [] : [{ attribute: name, from, to }];
  });
}

/** The logged text of a cell. */
export const textOf = (cell: Cell | undefined): string | null =>
  cell === null || cell === undefined ? null : String(cell);

const digestOfCell = (cell: Cell | undefined): string | null => {
  const text = textOf(cell);
  return text === null ? null : digestOf(text);
};

/** A value that a late answer reported, as a line without the value before. */
interface LateValue extends Change {
  /** The value of the row before this load. */
  readonly rowValue: string | null;
  readonly isRowKnown: boolean;
}

/**
 * The values that late answers with a full observation left. An answer with lesser ones alone may never have been written to
 * the row, so it is left out, and so is what only a lesser one reports.
 */
function lateOf(
  table: RootTable,
  attributes: readonly Attribute[],
  answers: readonly AnswerReceived[],
  compared: readonly ComparedRow[],
): LateValue[] {
  const late: LateValue[] = [];
  for (const { id, before, answers: shown, changes: rowChanges } of compared) {
    const isRowKnown = before !== undefined;
    for (const [index, { answer, rows }] of shown.entries()) {
      const by = answers[answer];
      if (rowChanges[index] !== 'superseded' || !by) continue;
      const full = rows.filter(isFull);
      const state = rows
        .slice(rows.findIndex(isFull))
        .reduce<RowState | undefined>((known, row) => observe(table, known, row), undefined);
      for (const { name, slot, valueOf } of attributes)
        if (full.some(({ values }) => values[slot] !== undefined)) {
          const [to, rowValue] = [valueOf(state?.values[slot]), valueOf(before?.values[slot])];
          late.push({ id, attribute: name, from: null, to, by, rowValue, isRowKnown });
        }
    }
  }
  return late;
}

/** One array per column. */
function valuesOf({ entityKey, columns }: ChangeTable, changes: readonly Change[]): string[] {
  const cells: Readonly<Record<string, (change: Change) => Cell>> = {
    attribute: ({ attribute }) => attribute,
    changed_at: ({ by }) => by.receivedAt,
    from_value: ({ from }) => from,
    to_value: ({ to }) => to,
    _answer_id: ({ by }) => by.answerId,
  };
  return columns.map(({ name }) => {
    const part = entityKey.indexOf(name);
    return arrayLiteral(changes.map(cells[name] ?? (({ id }): Cell => id.split('\0')[part] ?? null)));
  });
}
