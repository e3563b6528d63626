/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';

export interface Run {
  readonly rows: (
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Executes and returns how many rows were touched. */
  readonly count: (sql: string, parameters: readonly unknown[]) => Promise<number>;
}

/** Runs statements on this connection or transaction. */
export function runOn<D>(db: Kysely<D> | Transaction<D>): Run {
  return {
    rows: async (sql, parameters) =>
      (await db.executeQuery<Record<string, string | null>>(CompiledQuery.raw(sql, [...parameters]))).rows,
    count: async (sql, parameters) =>
      Number((await db.executeQuery(CompiledQuery.raw(sql, [...parameters]))).numAffectedRows ?? 0n),
  };
}
