/**
 * Keeps the numbers of each day: a row for each entity and UTC day on which an answer showed it, with the last value of
 * each number that was told that day. Each number goes by the receipt of the answer that told it, so a replay changes
 * nothing. As with all rows, what tells the same again is not written: an answer that is loaded late may therefore stand,
 * where one between it and the day's last repeated the number that was there.
 */
import type { Cell, RootRow } from '../../normalize/batch.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import type { DailyMeasure, DailyTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { upsertDaily } from './daily-sql.ts';
import { newRows, type SqlExecutor } from '../sql/executor.ts';
import { byReceipt, type AnswerReceived, type ObservationsById } from './observations.ts';
import { observe, type RowState } from '../merge/observe.ts';

/** A number, and the answer that told it last that day. */
interface DailyValue {
  readonly value: Cell;
  readonly answer: AnswerReceived;
}

/** What a day's answers told of one entity. */
interface DailyRow {
  readonly id: string;
  readonly date: string;
  /** The day's last answer that showed the entity. */
  readonly last: AnswerReceived;
  /** Numbers by column; one that no answer told is not here. */
  readonly values: ReadonlyMap<string, DailyValue>;
}

/**
 * Writes the days on which these answers showed entities of a table; does nothing for one that keeps no numbers. Of those
 * that are `added` no day can be there.
 */
export async function writeDailyRows(
  run: SqlExecutor,
  schema: string,
  table: RootTable,
  answers: readonly AnswerReceived[],
  seen: ObservationsById,
  added: ReadonlySet<string>,
): Promise<void> {
  const { daily } = table;
  if (!daily) return;
  const days = daysOf(table, daily, answers, seen);
  const upsert = upsertDaily(schema, daily);
  const known = days.filter(({ id }) => !added.has(id));
  const first = days.filter(({ id }) => added.has(id));
  if (known.length > 0) await run.write(upsert, valuesOf(daily, known));
  if (first.length > 0) {
    // What it throws comes out of the next statement.
    void run.insert(schema, daily, newRows(first, cellsOf(daily)), upsert);
    await run.yieldToEventLoop();
  }
}

/**
 * The days that answers make, in key order. A full sighting always makes its day's row; a lesser one does where it tells
 * one of the numbers.
 */
function daysOf(
  table: RootTable,
  daily: DailyTable,
  answers: readonly AnswerReceived[],
  seen: ObservationsById,
): readonly DailyRow[] {
  const days = new Map<string, DailyRow>();
  for (const [id, shown] of seen) {
    for (const { answer, rows } of shown) {
      const by = answers[answer];
      const state = rows.reduce<RowState | undefined>((known, row) => observe(table, known, row), undefined);
      if (!by || !state) continue;
      const told = toldBy(daily.measures, state, by);
      if (told.size === 0 && !rows.some(isFull)) continue;
      const date = by.receivedAt.slice(0, 10);
      const key = `${id}\0${date}`;
      const day = { id, date, last: by, values: told };
      const known = days.get(key);
      days.set(key, known ? together(known, day) : day);
    }
  }
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}

const isFull = ({ detail }: RootRow): boolean => detail === 'full';

function toldBy(measures: readonly DailyMeasure[], state: RowState, by: AnswerReceived): Map<string, DailyValue> {
  return new Map(
    measures.flatMap((measure) => {
      const value = valueOf(measure, state);
      return value === null ? [] : [[measure.column, { value, answer: by }] as const];
    }),
  );
}

function valueOf({ column, sum }: DailyMeasure, { cells, lists }: RowState): Cell {
  if (!sum) return cells[column] ?? null;
  const rows = lists[sum.child];
  if (!rows) return null;
  // Exact, because counts may be beyond what a number holds; negative ones are hidden.
  const counts = rows.map((row) => BigInt(String(row[sum.place] ?? 0)));
  return String(counts.reduce((total, count) => (count > 0n ? total + count : total), 0n));
}

function together(a: DailyRow, b: DailyRow): DailyRow {
  const isChanged = [...b.values].some(([column, it]) => {
    const known = a.values.get(column);
    return !known || (byReceipt(known.answer, it.answer) < 0 && String(known.value) !== String(it.value));
  });
  if (!isChanged) return a;
  const values = new Map(a.values);
  for (const [column, it] of b.values) {
    const known = values.get(column);
    if (!known || byReceipt(known.answer, it.answer) < 0) values.set(column, it);
  }
  return { ...a, last: byReceipt(a.last, b.last) < 0 ? b.last : a.last, values };
}

/** One array a column. */
const valuesOf = (daily: DailyTable, days: readonly DailyRow[]): string[] =>
  cellsOf(daily).map((of) => arrayLiteralOf(days, of));

/** What a day's row has in each column. */
function cellsOf({ entityKey, columns }: DailyTable): ((day: DailyRow) => Cell)[] {
  const machinery: Readonly<Record<string, (day: DailyRow) => Cell>> = {
    date: ({ date }) => date,
    _seen_at: ({ last }) => last.receivedAt,
    _answer_id: ({ last }) => last.answerId,
    _earlier: earlierOf,
  };
  return columns.map(({ name }) => {
    const part = entityKey.indexOf(name);
    const of = machinery[name] ?? ((day: DailyRow): Cell => day.values.get(name)?.value ?? null);
    return part < 0 ? of : ({ id }) => id.split('\0')[part] ?? null;
  });
}

/** The numbers that the day's last answer did not tell, each with who told it. */
function earlierOf({ values, last }: DailyRow): Cell {
  const earlier = [...values].filter(([, { answer: by }]) => byReceipt(by, last) < 0);
  if (earlier.length === 0) return null;
  return JSON.stringify(
    Object.fromEntries(earlier.map(([name, { answer: by }]) => [name, [by.receivedAt, by.answerId]])),
  );
}
