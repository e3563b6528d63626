/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { setImmediate as sent } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { arrayLiteralOf } from '../warehouse/array.ts';
import { copyText } from '../warehouse/copy.ts';
import type { Cell } from '../normalize/batch.ts';
import type { Table } from '../warehouse/table.ts';
import { errorCode } from '../warehouse/trouble.ts';
import { copyRows } from './statements.ts';

export interface Run {
  /** Executes a statement with one column, `row`: a JSON object of texts. */
  readonly rows: (
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Executes and returns how many rows were touched. */
  readonly count: (sql: string, parameters: readonly unknown[]) => Promise<number>;
  /**
   * Has the statement executed after those before, and returns when it is sent, so that the next one is made while the
   * database is at work. What it throws comes out of the next call, or of `settled`.
   */
  readonly write: (sql: string, parameters: readonly unknown[]) => Promise<void>;
  /** Returns when what was asked for is on its way, so that what comes next is made while the database is at work. */
  readonly sent: () => Promise<void>;
  /**
   * Has rows, lines that `copyText` made of all columns, added as `write` does, where no other writer can get in between
   * and none is there: those of an owner that is held.
   */
  readonly add: (schema: string, table: Table, lines: string) => Promise<void>;
  /**
   * Adds rows, all columns of each, that were not there at the last look. Where somebody else has added one meanwhile, or
   * they are few, it executes the statement, which takes an array a column. Returns how many rows were touched.
   */
  readonly insert: (
    schema: string,
    table: Table,
    rows: readonly (readonly Cell[])[],
    otherwise: string,
  ) => Promise<number>;
  /** Waits for what was written. */
  readonly settled: () => Promise<void>;
}

/** From so many rows on, to copy them is quicker than to insert them, in spite of the savepoint that it takes. */
const COPIED_FROM = 20;

/** A row with this key is there. */
const IS_THERE = '23505';

/** Runs statements on this connection or transaction, one after the other. */
export function runOn<D>(db: Kysely<D> | Transaction<D>): Run {
  let writing: Promise<unknown> = Promise.resolve();
  const execute = async <Row>(sql: string, parameters: readonly unknown[]) =>
    db.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
  const write: Run['write'] = async (sql, parameters) => {
    await writing;
    writing = execute(sql, parameters);
    // Whoever comes next meets its error.
    writing.catch(() => undefined);
    await sent();
  };
  const touched = async (sql: string, parameters: readonly unknown[]): Promise<number> =>
    Number((await execute(sql, parameters)).numAffectedRows ?? 0n);
  const added: Run['insert'] = async (schema, table, rows, otherwise) => {
    if (rows.length < COPIED_FROM) return touched(otherwise, columnsOf(table, rows));
    await execute('savepoint adding', []);
    try {
      const count = await touched(copyRows(schema, table), [copyText([{ key: [], rows }])]);
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
      await writing;
      const { rows } = await execute<{ row: string }>(sql, parameters);
      return rows.map(({ row }) => JSON.parse(row) as Record<string, string | null>);
    },
    count: async (sql, parameters) => {
      await writing;
      return touched(sql, parameters);
    },
    write,
    sent: () => sent(),
    add: (schema, table, lines) => write(copyRows(schema, table), [lines]),
    insert: async (...rows) => {
      await writing;
      const adding = added(...rows);
      writing = adding;
      writing.catch(() => undefined);
      return adding;
    },
    settled: async () => {
      await writing;
    },
  };
}

/** One array a column. */
const columnsOf = (table: Table, rows: readonly (readonly Cell[])[]): string[] =>
  table.columns.map((_, column) => arrayLiteralOf(rows, (row) => row[column] ?? null));
