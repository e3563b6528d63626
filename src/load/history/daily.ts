/**
 * Writes daily numbers: a row for each entity and UTC day with an observation, with the last value of each number on
 * that day. The receipt time of the answer decides the day, so a replay changes nothing. A repeated value is not
 * written. Therefore a late answer may stay visible although a later answer of the day repeated the earlier value.
 */
import type { Cell, RootRow } from '../../normalize/batch.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import type { DailyMeasure, DailyTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { upsertDaily } from './daily-sql.ts';
import { newRows } from '../sql/executor.ts';
import { type AnswerReceived, byReceipt, type HistoryTarget, type ObservationsById } from './observations.ts';
import { observe, type RowState } from '../merge/observe.ts';

/** A number, and the last answer of the day that reported it. */
interface DailyValue {
  readonly value: Cell;
  readonly answer: AnswerReceived;
}

/** The observations of one entity on one day. */
interface DailyRow {
  readonly id: string;
  readonly date: string;
  /** The day's last answer that showed the entity. */
  readonly last: AnswerReceived;
  /** Numbers by measure; undefined if no answer reported it. */
  readonly values: readonly (DailyValue | undefined)[];
}

/**
 * Writes the days on which these answers showed entities of a table; does nothing for a table without daily numbers.
 * Entities in `added` are new, so they have no earlier days.
 */
export async function writeDailyRows(
  { executor, schema, table, contexts }: HistoryTarget,
  seen: ObservationsById,
  added: ReadonlySet<string>,
): Promise<void> {
  const { daily } = table;
  if (!daily) return;
  const days = daysOf(table, daily, contexts, seen);
  const upsert = upsertDaily(schema, daily);
  const known = days.filter(({ id }) => !added.has(id));
  const first = days.filter(({ id }) => added.has(id));
  if (known.length > 0) await executor.write(upsert, valuesOf(daily, known));
  if (first.length > 0) {
    const columns = cellsOf(daily);
    const rows = newRows(first, (day) => columns.map((cellOf) => cellOf(day)));
    // An error is thrown by the next statement.
    void executor.insert(schema, daily, rows, upsert);
    await executor.yieldToEventLoop();
  }
}

/**
 * Returns the days of the answers, in key order. A full observation always makes a row; a lesser one does so if it
 * reports a number.
 */
function daysOf(
  table: RootTable,
  daily: DailyTable,
  answers: readonly AnswerReceived[],
  seen: ObservationsById,
): readonly DailyRow[] {
  const days = new Map<string, DailyRow>();
  const measures = daily.measures.map((measure) => measureReader(table, measure));
  for (const [id, shown] of seen) {
    for (const { answer, rows } of shown) {
      const by = answers[answer];
      const state = rows.reduce<RowState | undefined>((known, row) => observe(table, known, row), undefined);
      if (!by || !state) continue;
      const values = measures.map((valueOf): DailyValue | undefined => {
        const value = valueOf(state);
        return value === null ? undefined : { value, answer: by };
      });
      if (values.every((value) => value === undefined) && !rows.some(isFull)) continue;
      const date = by.receivedAt.slice(0, 10);
      const key = `${id}\0${date}`;
      const day = { id, date, last: by, values };
      const known = days.get(key);
      days.set(key, known ? together(known, day) : day);
    }
  }
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}

/** A larger sum has no place in its column: two absurd counts would put the complete answer into quarantine. */
const LARGEST_BIGINT = 2n ** 63n - 1n;

const isFull = ({ detail }: RootRow): boolean => detail === 'full';

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

function together(a: DailyRow, b: DailyRow): DailyRow {
  const newer = b.values.map((value, measure) => {
    const known = a.values[measure];
    return value && (!known || byReceipt(known.answer, value.answer) < 0) ? value : undefined;
  });
  const isChanged = newer.some((value, measure) => {
    const known = a.values[measure];
    return value && (!known || String(known.value) !== String(value.value));
  });
  if (!isChanged) return a;
  const values = a.values.map((known, measure) => newer[measure] ?? known);
  return { ...a, last: byReceipt(a.last, b.last) < 0 ? b.last : a.last, values };
}

/** One array per column. */
const valuesOf = (daily: DailyTable, days: readonly DailyRow[]): string[] =>
  cellsOf(daily).map((of) => arrayLiteralOf(days, of));

/** Returns the cells of a day's row, by column. */
function cellsOf({ entityKey, columns, measures }: DailyTable): ((day: DailyRow) => Cell)[] {
  const machinery: Readonly<Record<string, (day: DailyRow) => Cell>> = {
    date: ({ date }) => date,
    _seen_at: ({ last }) => last.receivedAt,
    _answer_id: ({ last }) => last.answerId,
    _earlier: ({ values, last }) => earlierOf(measures, values, last),
  };
  return columns.map(({ name }) => {
    const part = entityKey.indexOf(name);
    const measure = measures.findIndex(({ column }) => column === name);
    const of = machinery[name] ?? (({ values }: DailyRow): Cell => values[measure]?.value ?? null);
    return part < 0 ? of : ({ id }) => id.split('\0')[part] ?? null;
  });
}

/** The numbers that the day's last answer did not report, each with its answer. */
function earlierOf(measures: readonly DailyMeasure[], values: DailyRow['values'], last: AnswerReceived): Cell {
  const earlier = measures.flatMap(({ column }, measure): [string, [string, string]][] => {
    const by = values[measure]?.answer;
    return by && byReceipt(by, last) < 0 ? [[column, [by.receivedAt, by.answerId]]] : [];
  });
  return earlier.length === 0 ? null : JSON.stringify(Object.fromEntries(earlier));
}
