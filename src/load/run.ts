/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { setImmediate as sent } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';

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
  /** Waits for what was written. */
  readonly settled: () => Promise<void>;
}

/** Runs statements on this connection or transaction, one after the other. */
export function runOn<D>(db: Kysely<D> | Transaction<D>): Run {
  let writing: Promise<unknown> = Promise.resolve();
  const execute = async <Row>(sql: string, parameters: readonly unknown[]) =>
    db.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
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
    write: async (sql, parameters) => {
      await writing;
      writing = execute(sql, parameters);
      // Whoever comes next meets its error.
      writing.catch(() => undefined);
      await sent();
    },
    settled: async () => {
      await writing;
    },
  };
}
