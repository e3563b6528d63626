/** How the loader talks to the database: text and parameters in, rows out, inside the caller's transaction. */
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';

export interface Run {
  /** Executes a statement with one column, `row`: a JSON object of texts. */
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
      (await db.executeQuery<{ row: string }>(CompiledQuery.raw(sql, [...parameters]))).rows.map(
        ({ row }) => JSON.parse(row) as Record<string, string | null>,
      ),
    count: async (sql, parameters) =>
      Number((await db.executeQuery(CompiledQuery.raw(sql, [...parameters]))).numAffectedRows ?? 0n),
  };
}
