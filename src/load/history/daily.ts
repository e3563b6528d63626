/**
 * Writes daily numbers: a row for each entity and UTC day with an observation, with the last value of each number on
 * that day. The receipt time of the answer decides the day, so a replay changes nothing. A repeated value is not
 * written. Therefore a late answer may stay visible although a later answer of the day repeated the earlier value.
 * Answers that are loaded together leave the rows that they leave one by one.
 */
import type { Cell } from '../../normalize/batch.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import type { DailyMeasure, DailyTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { upsertDaily } from './daily-sql.ts';
import { newRows } from '../sql/executor.ts';
import type { AnswerReceived, HistoryTarget, ObservationsById } from './observations.ts';
import { isFull, observe, type RowState } from '../merge/observe.ts';

/** What one answer reports of one entity, on its day. */
interface DailyRow {
  readonly id: string;
  readonly date: string;
  readonly by: AnswerReceived;
  /** Numbers by measure; null if the answer does not report it. */
  readonly values: readonly Cell[];
}

/**
 * Writes the days on which these answers showed entities of a table; does nothing for a table without daily numbers.
 * Entities in `added` are new, so they have no earlier days.
 */
export async function writeDailyRows(
  { executor, table, contexts }: HistoryTarget,
  observations: ObservationsById,
  added: ReadonlySet<string>,
): Promise<void> {
  const { daily } = table;
  if (!daily) return;
  const [days = [], ...later] = roundsOf(table, daily, contexts, observations);
  const upsert = upsertDaily(executor.schema, daily);
  const known = days.filter(({ id }) => !added.has(id));
  const first = days.filter(({ id }) => added.has(id));
  if (known.length > 0) await executor.write(upsert, valuesOf(daily, known));
  if (first.length > 0) {
    const columns = cellsOf(daily);
    const rows = newRows(first, (day) => columns.map((cellOf) => cellOf(day)));
    // An error is thrown by the next statement.
    void executor.insert(daily, rows, upsert);
    await executor.yieldToEventLoop();
  }
  for (const round of later) await executor.write(upsert, valuesOf(daily, round));
}

/**
 * Returns the rows of the answers in rounds, each in key order and without a day twice, because a statement can merge only
 * one row into another. A full observation always makes a row; a lesser one does so if it reports a number. One that
 * repeats the numbers before it makes none.
 */
function roundsOf(
  table: RootTable,
  daily: DailyTable,
  answers: readonly AnswerReceived[],
  observations: ObservationsById,
): readonly (readonly DailyRow[])[] {
  const days = new Map<string, DailyRow[]>();
  const measures = daily.measures.map((measure) => measureReader(table, measure));
  for (const [id, shown] of observations) {
    for (const { answer, rows } of shown) {
      const by = answers[answer];
      const state = rows.reduce<RowState | undefined>((known, row) => observe(table, known, row), undefined);
      if (!by || !state) continue;
      const values = measures.map((valueOf) => valueOf(state));
      if (values.every((value) => value === null) && !rows.some(isFull)) continue;
      const date = by.receivedAt.slice(0, 10);
      const key = `${id}\0${date}`;
      const day = { id, date, by, values };
      const known = days.get(key);
      if (!known) days.set(key, [day]);
      else if (!repeats(known, day)) known.push(day);
    }
  }
  const inOrder = [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, rows]) => rows);
  const most = inOrder.reduce((length, rows) => Math.max(length, rows.length), 0);
  return Array.from({ length: most }, (_, round) => inOrder.flatMap((rows) => rows[round] ?? []));
}

/** True if each number of the row is the last one that the rows before reported. */
const repeats = (known: readonly DailyRow[], { values }: DailyRow): boolean =>
  values.every((value, measure) => {
    if (value === null) return true;
    const last = known.findLast((row) => row.values[measure] !== null)?.values[measure];
    return last !== undefined && String(last) === String(value);
  });

/** A larger sum has no place in its column: two absurd counts would put the complete answer into quarantine. */
const LARGEST_BIGINT = 2n ** 63n - 1n;

/** A function that finds a daily number in an observation. */
function measureReader({ slots, children }: RootTable, { column, sum }: DailyMeasure): (state: RowState) => Cell {
  if (!sum) {
    const slot = slots.get(column) ?? -1;
    return ({ values }) => values[slot] ?? null;
  }
  const list = children.findIndex(({ name }) => name === sum.child);
  return ({ lists }) => {
    const rows = lists[list];
    if (!rows) return null;
    // BigInt is exact, because counts may exceed the range of numbers. Negative counts mean hidden.
    const counts = rows.map((row) => BigInt(String(row[sum.place] ?? 0)));
    const total = counts.reduce((sum, count) => (count > 0n ? sum + count : sum), 0n);
    return total > LARGEST_BIGINT ? null : String(total);
  };
}

/** One array per column. */
const valuesOf = (daily: DailyTable, days: readonly DailyRow[]): string[] =>
  cellsOf(daily).map((of) => arrayLiteralOf(days, of));

/** Returns the cells of a row, by column. */
function cellsOf({ entityKey, columns, measures }: DailyTable): ((day: DailyRow) => Cell)[] {
  const machinery: Readonly<Record<string, (day: DailyRow) => Cell>> = {
    date: ({ date }) => date,
    _seen_at: ({ by }) => by.receivedAt,
    _answer_id: ({ by }) => by.answerId,
    _earlier: () => null,
  };
  return columns.map(({ name }) => {
    const part = entityKey.indexOf(name);
    const measure = measures.findIndex(({ column }) => column === name);
    const of = machinery[name] ?? (({ values }: DailyRow): Cell => values[measure] ?? null);
    return part < 0 ? of : ({ id }) => id.split('\0')[part] ?? null;
  });
}
