/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { setImmediate as sent } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { arrayLiteralOf } from '../warehouse/array.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { copyText, type Rows } from '../warehouse/copy.ts';
import type { Table } from '../warehouse/table.ts';
import { copyRows, insertRows } from './statements.ts';

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
  /** Rows, all columns of each, in the form in which `add` takes them. */
  readonly prepared: (table: Table, sets: readonly Rows[]) => Prepared;
  /**
   * Has rows added as `write` does, where no other writer can get in between and none is there: those of an owner that is
   * held.
   */
  readonly add: (schema: string, table: Table, rows: Prepared) => Promise<void>;
  /** Waits for what was written. */
  readonly settled: () => Promise<void>;
}

export interface Prepared {
  readonly values: readonly unknown[];
}

/** Runs statements on this connection or transaction, one after the other; rows are copied where it is told that a server takes them. */
export function runOn<D>(db: Kysely<D> | Transaction<D>, kind?: Warehouse['kind']): Run {
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
  return {
    rows: async (sql, parameters) => {
      await writing;
      const { rows } = await execute<{ row: string }>(sql, parameters);
      return rows.map(({ row }) => JSON.parse(row) as Record<string, string | null>);
    },
    count: async (sql, parameters) => {
      await writing;
      return Number((await execute(sql, parameters)).numAffectedRows ?? 0n);
    },
    write,
    sent: () => sent(),
    prepared: (table, sets) => ({ values: kind === 'postgres' ? [copyText(sets)] : columnsOf(table, sets) }),
    add: (schema, table, { values }) => write((kind === 'postgres' ? copyRows : insertRows)(schema, table), values),
    settled: async () => {
      await writing;
    },
  };
}

/** One array a column. */
function columnsOf(table: Table, sets: readonly Rows[]): string[] {
  const all = sets.flatMap(({ key, rows }) => rows.map((row) => ({ key, row })));
  return table.columns.map((_, column) =>
    arrayLiteralOf(all, ({ key, row }) => (column < key.length ? key[column] : row[column - key.length]) ?? null),
  );
}
