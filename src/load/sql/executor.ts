/** How the loader runs SQL in one schema: text and parameters in, rows out, inside the caller's transaction. */
import { yieldToEventLoop } from '../../async/yield-to-event-loop.ts';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import { PLANNED_ONCE } from '../../warehouse/sql/compile-once.ts';
import { copyText, isCopy } from '../../warehouse/sql/copy.ts';
import type { Cell } from '../../normalize/batch.ts';
import type { Table } from '../../warehouse/schema/table-types.ts';
import { copyRows } from './statements.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

export interface SqlExecutor {
  /** The schema of the analyst tables. */
  readonly schema: string;
  /** Executes a statement with one column, `row`: a JSON object of texts. */
  readonly rows: (
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Executes a statement and returns the number of affected rows. */
  readonly count: (sql: string, parameters: readonly unknown[]) => Promise<number>;
  /**
   * Queues the statement and returns when it is sent, so that the caller prepares the next one while the database
   * works. An error is thrown by the next call, or by `drain`.
   */
  readonly write: (sql: string, parameters: readonly unknown[]) => Promise<void>;
  /** Returns when the queued statement is sent, so that the caller prepares the next one while the database works. */
  readonly yieldToEventLoop: () => Promise<void>;
  /**
   * Queues a COPY of lines from `copyText` with all columns, as `write` does. No such row may exist, and no other
   * writer may interfere: use it for rows of a locked owner.
   */
  readonly copyRows: (table: Table, lines: string) => Promise<void>;
  /**
   * Inserts rows that were missing at the last read. For few rows, or if another writer inserted one meanwhile, it
   * executes `otherwise`, which takes an array per column. Returns the number of affected rows.
   */
  readonly insert: (table: Table, rows: NewRows, otherwise: string) => Promise<number>;
  /** Waits for all queued statements. */
  readonly drain: () => Promise<void>;
}

/** Rows with all columns, computed as they are sent. */
export interface NewRows {
  readonly count: number;
  /** The rows from one index to another. */
  readonly cells: (from: number, to: number) => readonly (readonly Cell[])[];
}

/** Creates one row for each item. */
export const newRows = <T>(items: readonly T[], rowOf: (item: T) => readonly Cell[]): NewRows => ({
  count: items.length,
  cells: (from, to) => items.slice(from, to).map(rowOf),
});

/** From this many rows on, COPY is faster than INSERT, despite its savepoint. */
const COPIED_FROM = 20;

/** Creates an executor that runs statements on this connection or transaction, one after the other. */
export function sqlExecutorOn<D>(db: Kysely<D> | Transaction<D>, schema: string): SqlExecutor {
  let last: Promise<unknown> = Promise.resolve();
  /** Runs after all earlier work. An error of earlier work is thrown by this call and by all later ones. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done;
    last.catch(() => undefined);
    return done;
  };
  const execute = async <Row>(sql: string, parameters: readonly unknown[]) => {
    const isPlanned = parameters.length > 0 && !isCopy(sql);
    return db.executeQuery<Row>(CompiledQuery.raw(isPlanned ? sql + PLANNED_ONCE : sql, [...parameters]));
  };
  const write: SqlExecutor['write'] = async (sql, parameters) => {
    const before = last;
    void inTurn(() => execute(sql, parameters));
    await before;
    await yieldToEventLoop();
  };
  const affectedRows = async (sql: string, parameters: readonly unknown[]): Promise<number> =>
    Number((await execute(sql, parameters)).numAffectedRows ?? 0n);
  const insertRowsInto: SqlExecutor['insert'] = async (table, rows, otherwise) => {
    if (rows.count < COPIED_FROM) return affectedRows(otherwise, columnsOf(table, rows));
    await execute('savepoint adding', []);
    try {
      const count = await affectedRows(copyRows(schema, table), [linesOf(rows)]);
      await execute('release savepoint adding', []);
      return count;
    } catch (error) {
      if (errorCode(error) !== SQL_STATE.uniqueViolation) throw error;
      await execute('rollback to savepoint adding', []);
      await execute('release savepoint adding', []);
      return affectedRows(otherwise, columnsOf(table, rows));
    }
  };
  return {
    schema,
    rows: async (sql, parameters) => {
      const { rows } = await inTurn(() => execute<{ row: string }>(sql, parameters));
      return rows.map(({ row }) => JSON.parse(row) as Record<string, string | null>);
    },
    count: (sql, parameters) => inTurn(() => affectedRows(sql, parameters)),
    write,
    yieldToEventLoop,
    copyRows: (table, lines) => write(copyRows(schema, table), [lines]),
    insert: (...rows) => inTurn(() => insertRowsInto(...rows)),
    drain: async () => {
      await last;
    },
  };
}

/** Rows per part of COPY text; the database reads a part while the next one is computed. */
const PART = 250;

function* linesOf({ count, cells }: NewRows): Generator<string> {
  for (let at = 0; at < count; at += PART) yield copyText([{ begin: '', rows: cells(at, at + PART) }]);
}

/** One array per column. */
function columnsOf(table: Table, { count, cells }: NewRows): string[] {
  const rows = cells(0, count);
  return table.columns.map((_, column) => arrayLiteralOf(rows, (row) => row[column] ?? null));
}
