/**
 * Logs what answers change of an entity's attributes: what it was, what it became, when and by which answer. The log
 * follows the row, so a lesser sighting that leaves the row as it is changes nothing here either. An answer that comes
 * late, after a newer one was loaded, finds its place between the changes that are known.
 */
import type { Cell, RootRow } from '../../normalize/batch.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { ChangeTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { Verdict } from '../merge/receipts.ts';
import { insertChanges, placeLate } from './change-log-sql.ts';
import type { Fate } from '../merge/merge.ts';
import { statesOf } from '../merge/stored-rows.ts';
import type { Run } from '../sql/executor.ts';
import type { Received, Seen, Shown } from './sightings.ts';
import { sighted, type State } from '../merge/precedence.ts';

/** One entity, what answers show of it, and what the loader made of each. */
export interface Judged {
  readonly id: string;
  /** The row as it rests in the warehouse, where an answer changes it. */
  readonly before: State | undefined;
  readonly shown: readonly Shown[];
  /** One for each of the answers that show it. */
  readonly verdicts: readonly Verdict[];
}

interface Change {
  readonly id: string;
  readonly attribute: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly by: Received;
}

/**
 * Logs what became of a table's entities; does nothing for one that is not logged. Call it when new rows are in and the
 * others are held, before they are written: what they were is read here.
 */
export async function logChanges(
  run: Run,
  schema: string,
  table: RootTable,
  answers: readonly Received[],
  seen: Seen,
  fates: readonly Fate[],
): Promise<void> {
  if (!table.changes) return;
  const told = fates.filter(({ steps }) => steps.some(({ verdict }) => TOLD.includes(verdict)));
  const changed = told.filter(({ resting, steps }) => resting && steps.some(({ verdict }) => verdict === 'changed'));
  const ids = changed.map(({ id }) => id);
  const before = await statesOf(run, schema, table, ids);
  const judged = told.map(({ id, steps }): Judged => {
    const verdicts = steps.map(({ verdict }) => verdict);
    return { id, before: before.get(id), shown: seen.get(id) ?? [], verdicts };
  });
  await writeChanges(run, schema, table.changes, table, answers, judged);
}

/** What the log has to do with. */
const TOLD: readonly Verdict[] = ['changed', 'superseded'];

/** Writes what answers change of these entities, and puts what came late into its place. */
export async function writeChanges(
  run: Run,
  schema: string,
  log: ChangeTable,
  table: RootTable,
  answers: readonly Received[],
  judged: readonly Judged[],
): Promise<void> {
  const changes = judged.flatMap((it) => changesOf(table, log, answers, it));
  if (changes.length > 0) await run.write(insertChanges(schema, log), valuesOf(log, changes));
  // One answer at a time, because each may move what the one before has put in.
  for (const late of lateOf(log, answers, judged)) await run.write(placeLate(schema, log), valuesOf(log, late));
}

/** What the answers change of one entity, in their order. */
function changesOf(
  table: RootTable,
  log: ChangeTable,
  answers: readonly Received[],
  { id, before, shown, verdicts }: Judged,
): readonly Change[] {
  const changes: Change[] = [];
  let known = before;
  for (const [place, { answer, rows }] of shown.entries()) {
    const by = answers[answer];
    if (!by || verdicts[place] === 'superseded') continue;
    const state = rows.reduce<State | undefined>((seen, row) => sighted(table, seen, row), known);
    if (known && state && verdicts[place] === 'changed') changes.push(...differences(log, id, known, state, by));
    known = state;
  }
  return changes;
}

/** What a preview left out was not told, so its appearing is no change; what a full answer left out was not there. */
function differences(log: ChangeTable, id: string, known: State, state: State, by: Received): Change[] {
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
function lateOf(log: ChangeTable, answers: readonly Received[], judged: readonly Judged[]): Change[][] {
  const late = new Map<number, Change[]>();
  for (const { id, shown, verdicts } of judged) {
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
