/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { setImmediate as sent } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import { copyText } from '../../warehouse/sql/copy.ts';
import type { Cell } from '../../normalize/batch.ts';
import type { Table } from '../../warehouse/schema/table-types.ts';
import { errorCode } from '../../warehouse/sql/errors.ts';
import { copyRows } from './statements.ts';

export interface SqlExecutor {
  /** Executes a statement with one column, `row`: a JSON object of texts. */
  readonly rows: (
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Executes and returns how many rows were touched. */
  readonly count: (sql: string, parameters: readonly unknown[]) => Promise<number>;
  /**
   * Has the statement executed after those before, and returns when it is sent, so that the next one is made while the
   * database is at work. What it throws comes out of the next call, or of `drain`.
   */
  readonly write: (sql: string, parameters: readonly unknown[]) => Promise<void>;
  /** Returns when what was asked for is on its way, so that what comes next is made while the database is at work. */
  readonly yieldToEventLoop: () => Promise<void>;
  /**
   * Has rows, lines that `copyText` made of all columns, added as `write` does, where no other writer can get in between
   * and none is there: those of an owner that is held.
   */
  readonly copyRows: (schema: string, table: Table, lines: string) => Promise<void>;
  /**
   * Adds rows that were not there at the last look. Where somebody else has added one meanwhile, or they are few, it
   * executes the statement, which takes an array a column. Returns how many rows were touched.
   */
  readonly insert: (schema: string, table: Table, rows: NewRows, otherwise: string) => Promise<number>;
  /** Waits for what was written. */
  readonly drain: () => Promise<void>;
}

/** Rows, all columns of each, which are made as they are sent. */
export interface NewRows {
  readonly count: number;
  /** Those of these places. */
  readonly cells: (from: number, to: number) => readonly (readonly Cell[])[];
}

/** A row of each item: what each column has of it. */
export const newRows = <T>(items: readonly T[], columns: readonly ((item: T) => Cell)[]): NewRows => ({
  count: items.length,
  cells: (from, to) => items.slice(from, to).map((item) => columns.map((of) => of(item))),
});

/** From so many rows on, to copy them is quicker than to insert them, in spite of the savepoint that it takes. */
const COPIED_FROM = 20;

/** A row with this key is there. */
const IS_THERE = '23505';

/** Runs statements on this connection or transaction, one after the other. */
export function sqlExecutorOn<D>(db: Kysely<D> | Transaction<D>): SqlExecutor {
  let last: Promise<unknown> = Promise.resolve();
  /** After all that was asked for before; what one of these threw comes out of it, and out of what is asked for next. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done;
    last.catch(() => undefined);
    return done;
  };
  const execute = async <Row>(sql: string, parameters: readonly unknown[]) =>
    db.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
  const write: SqlExecutor['write'] = async (sql, parameters) => {
    const before = last;
    void inTurn(() => execute(sql, parameters));
    await before;
    await sent();
  };
  const touched = async (sql: string, parameters: readonly unknown[]): Promise<number> =>
    Number((await execute(sql, parameters)).numAffectedRows ?? 0n);
  const added: SqlExecutor['insert'] = async (schema, table, rows, otherwise) => {
    if (rows.count < COPIED_FROM) return touched(otherwise, columnsOf(table, rows));
    await execute('savepoint adding', []);
    try {
      const count = await touched(copyRows(schema, table), [linesOf(rows)]);
      await execute('release savepoint adding', []);
      return count;
    } catch (error) {
      if (errorCode(error) !== IS_THERE) throw error;
      await execute('rollback to savepoint adding', []);
      return touched(otherwise, columnsOf(table, rows));
    }
  };
  return {
    rows: async (sql, parameters) => {
      const { rows } = await inTurn(() => execute<{ row: string }>(sql, parameters));
      return rows.map(({ row }) => JSON.parse(row) as Record<string, string | null>);
    },
    count: (sql, parameters) => inTurn(() => touched(sql, parameters)),
    write,
    yieldToEventLoop: () => sent(),
    copyRows: (schema, table, lines) => write(copyRows(schema, table), [lines]),
    insert: (...rows) => inTurn(() => added(...rows)),
    drain: async () => {
      await last;
    },
  };
}

/** Rows that go together into the text of a copy, which the database takes in while the next ones are made. */
const PART = 250;

function* linesOf({ count, cells }: NewRows): Generator<string> {
  for (let at = 0; at < count; at += PART) yield copyText([{ key: [], rows: cells(at, at + PART) }]);
}

/** One array a column. */
function columnsOf(table: Table, { count, cells }: NewRows): string[] {
  const rows = cells(0, count);
  return table.columns.map((_, column) => arrayLiteralOf(rows, (row) => row[column] ?? null));
}
