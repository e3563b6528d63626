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
import { newRows, type Run } from '../sql/executor.ts';
import { byReceipt, type Received, type Seen } from './sightings.ts';
import { sighted, type State } from '../merge/precedence.ts';

/** A number, and the answer that told it last that day. */
interface Told {
  readonly value: Cell;
  readonly by: Received;
}

/** What a day's answers told of one entity. */
interface Day {
  readonly id: string;
  readonly date: string;
  /** The day's last answer that showed the entity. */
  readonly last: Received;
  /** Numbers by column; one that no answer told is not here. */
  readonly told: ReadonlyMap<string, Told>;
}

/**
 * Writes the days on which these answers showed entities of a table; does nothing for one that keeps no numbers. Of those
 * that are `added` no day can be there.
 */
export async function writeDays(
  run: Run,
  schema: string,
  table: RootTable,
  answers: readonly Received[],
  seen: Seen,
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
    await run.sent();
  }
}

/**
 * The days that answers make, in key order. A full sighting always makes its day's row; a lesser one does where it tells
 * one of the numbers.
 */
function daysOf(table: RootTable, daily: DailyTable, answers: readonly Received[], seen: Seen): readonly Day[] {
  const days = new Map<string, Day>();
  for (const [id, shown] of seen) {
    for (const { answer, rows } of shown) {
      const by = answers[answer];
      const state = rows.reduce<State | undefined>((known, row) => sighted(table, known, row), undefined);
      if (!by || !state) continue;
      const told = toldBy(daily.measures, state, by);
      if (told.size === 0 && !rows.some(isFull)) continue;
      const date = by.receivedAt.slice(0, 10);
      const key = `${id}\0${date}`;
      const day = { id, date, last: by, told };
      const known = days.get(key);
      days.set(key, known ? together(known, day) : day);
    }
  }
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}

const isFull = ({ detail }: RootRow): boolean => detail === 'full';

function toldBy(measures: readonly DailyMeasure[], state: State, by: Received): Map<string, Told> {
  return new Map(
    measures.flatMap((measure) => {
      const value = valueOf(measure, state);
      return value === null ? [] : [[measure.column, { value, by }] as const];
    }),
  );
}

function valueOf({ column, sum }: DailyMeasure, { cells, lists }: State): Cell {
  if (!sum) return cells[column] ?? null;
  const rows = lists[sum.child];
  if (!rows) return null;
  // Exact, because counts may be beyond what a number holds; negative ones are hidden.
  const counts = rows.map((row) => BigInt(String(row[sum.place] ?? 0)));
  return String(counts.reduce((total, count) => (count > 0n ? total + count : total), 0n));
}

function together(a: Day, b: Day): Day {
  const isChanged = [...b.told].some(([column, it]) => {
    const known = a.told.get(column);
    return !known || (byReceipt(known.by, it.by) < 0 && String(known.value) !== String(it.value));
  });
  if (!isChanged) return a;
  const told = new Map(a.told);
  for (const [column, it] of b.told) {
    const known = told.get(column);
    if (!known || byReceipt(known.by, it.by) < 0) told.set(column, it);
  }
  return { ...a, last: byReceipt(a.last, b.last) < 0 ? b.last : a.last, told };
}

/** One array a column. */
const valuesOf = (daily: DailyTable, days: readonly Day[]): string[] =>
  cellsOf(daily).map((of) => arrayLiteralOf(days, of));

/** What a day's row has in each column. */
function cellsOf({ entityKey, columns }: DailyTable): ((day: Day) => Cell)[] {
  const machinery: Readonly<Record<string, (day: Day) => Cell>> = {
    date: ({ date }) => date,
    _seen_at: ({ last }) => last.receivedAt,
    _answer_id: ({ last }) => last.answerId,
    _earlier: earlierOf,
  };
  return columns.map(({ name }) => {
    const part = entityKey.indexOf(name);
    const of = machinery[name] ?? ((day: Day): Cell => day.told.get(name)?.value ?? null);
    return part < 0 ? of : ({ id }) => id.split('\0')[part] ?? null;
  });
}

/** The numbers that the day's last answer did not tell, each with who told it. */
function earlierOf({ told, last }: Day): Cell {
  const earlier = [...told].filter(([, { by }]) => byReceipt(by, last) < 0);
  if (earlier.length === 0) return null;
  return JSON.stringify(Object.fromEntries(earlier.map(([name, { by }]) => [name, [by.receivedAt, by.answerId]])));
}
