/**
 * Logs what answers change of an entity's attributes: what it was, what it became, when and by which answer. The log
 * follows the row, so a lesser sighting that leaves the row as it is changes nothing here either. An answer that comes
 * late, after a newer one was loaded, finds its place between the changes that are known.
 */
import type { Cell, RootRow } from '../../normalize/batch.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { ChangeTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { RowChange } from '../merge/receipt-builder.ts';
import { insertChanges, insertLateChanges } from './change-log-sql.ts';
import type { MergeResult } from '../merge/merge.ts';
import { loadStates } from '../merge/stored-rows.ts';
import type { SqlExecutor } from '../sql/executor.ts';
import type { AnswerReceived, ObservationsById, AnswerRows } from './observations.ts';
import { observe, type RowState } from '../merge/observe.ts';

/** One entity, what answers show of it, and what the loader made of each. */
export interface ComparedRow {
  readonly id: string;
  /** The row as it rests in the warehouse, where an answer changes it. */
  readonly before: RowState | undefined;
  readonly answers: readonly AnswerRows[];
  /** One for each of the answers that show it. */
  readonly changes: readonly RowChange[];
}

interface Change {
  readonly id: string;
  readonly attribute: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly by: AnswerReceived;
}

/**
 * Logs what became of a table's entities; does nothing for one that is not logged. Call it when new rows are in and the
 * others are held, before they are written: what they were is read here.
 */
export async function logChanges(
  run: SqlExecutor,
  schema: string,
  table: RootTable,
  answers: readonly AnswerReceived[],
  seen: ObservationsById,
  fates: readonly MergeResult[],
): Promise<void> {
  if (!table.changes) return;
  const told = fates.filter(({ steps }) => steps.some(({ change }) => TOLD.includes(change)));
  const changed = told.filter(({ stored, steps }) => stored && steps.some(({ change }) => change === 'changed'));
  const ids = changed.map(({ id }) => id);
  const before = await loadStates(run, schema, table, ids);
  const judged = told.map(({ id, steps }): ComparedRow => {
    const verdicts = steps.map(({ change }) => change);
    return { id, before: before.get(id), answers: seen.get(id) ?? [], changes: verdicts };
  });
  await writeChanges(run, schema, table.changes, table, answers, judged);
}

/** What the log has to do with. */
const TOLD: readonly RowChange[] = ['changed', 'superseded'];

/** Writes what answers change of these entities, and puts what came late into its place. */
export async function writeChanges(
  run: SqlExecutor,
  schema: string,
  log: ChangeTable,
  table: RootTable,
  answers: readonly AnswerReceived[],
  judged: readonly ComparedRow[],
): Promise<void> {
  const changes = judged.flatMap((it) => changesOf(table, log, answers, it));
  if (changes.length > 0) await run.write(insertChanges(schema, log), valuesOf(log, changes));
  // One answer at a time, because each may move what the one before has put in.
  for (const late of lateOf(log, answers, judged)) await run.write(insertLateChanges(schema, log), valuesOf(log, late));
}

/** What the answers change of one entity, in their order. */
function changesOf(
  table: RootTable,
  log: ChangeTable,
  answers: readonly AnswerReceived[],
  { id, before, answers: shown, changes: verdicts }: ComparedRow,
): readonly Change[] {
  const changes: Change[] = [];
  let known = before;
  for (const [place, { answer, rows }] of shown.entries()) {
    const by = answers[answer];
    if (!by || verdicts[place] === 'superseded') continue;
    const state = rows.reduce<RowState | undefined>((seen, row) => observe(table, seen, row), known);
    if (known && state && verdicts[place] === 'changed') changes.push(...differences(log, id, known, state, by));
    known = state;
  }
  return changes;
}

/** What a preview left out was not told, so its appearing is no change; what a full answer left out was not there. */
function differences(log: ChangeTable, id: string, known: RowState, state: RowState, by: AnswerReceived): Change[] {
  return log.attributes.flatMap((attribute) => {
    const from = textOf(known.cells[attribute]);
    const to = textOf(state.cells[attribute]);
    return from === to || (from === null && known.detail !== 'full') ? [] : [{ id, attribute, from, to, by }];
  });
}

const textOf = (cell: Cell | undefined): string | null => (cell === null || cell === undefined ? null : String(cell));

/**
 * What full sightings tell that came late, answer by answer, the oldest first. What lesser ones tell may never have been
 * taken, so they are left out.
 */
function lateOf(log: ChangeTable, answers: readonly AnswerReceived[], judged: readonly ComparedRow[]): Change[][] {
  const late = new Map<number, Change[]>();
  for (const { id, answers: shown, changes: verdicts } of judged) {
    for (const [place, { answer, rows }] of shown.entries()) {
      const by = answers[answer];
      const row = rows.findLast(isFull);
      if (verdicts[place] !== 'superseded' || !by || !row) continue;
      const told = log.attributes
        .filter((attribute) => attribute in row.cells)
        .map((attribute): Change => ({ id, attribute, from: null, to: textOf(row.cells[attribute]), by }));
      late.set(answer, [...(late.get(answer) ?? []), ...told]);
    }
  }
  return [...late]
    .toSorted(([a], [b]) => (BigInt(answers[a]?.answerId ?? 0) < BigInt(answers[b]?.answerId ?? 0) ? -1 : 1))
    .map(([, changes]) => changes);
}

const isFull = ({ detail }: RootRow): boolean => detail === 'full';

/** One array a column. */
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
