/** A warehouse that passes each statement to an observer before the database gets it. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

export interface Listener {
  /** Runs the statement, or does not; `explain` returns the plan of the database. */
  readonly statement: <T>(text: string, run: () => Promise<T>, explain: () => Promise<string>) => Promise<T>;
  /** Throws where a transaction is not to be committed. */
  readonly beforeCommit?: () => unknown;
}

/** The same warehouse, on the same connections. */
export const withStatementSpy = (warehouse: Warehouse, listener: Listener): Warehouse => ({
  ...warehouse,
  db: new Kysely({ dialect: dialectOver(warehouse.db, listener) }),
});

function dialectOver(db: Warehouse['db'], { statement, beforeCommit }: Listener): Dialect {
  const given = new WeakMap<DatabaseConnection, { readonly real: DatabaseConnection; readonly giveBack: () => void }>();
  const run = async (connection: DatabaseConnection, text: string): Promise<void> => {
    await given.get(connection)?.real.executeQuery(CompiledQuery.raw(text));
  };
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () =>
      new Promise((resolve, reject) => {
        db.getExecutor()
          .provideConnection(async (real) => {
            const { promise, resolve: giveBack } = Promise.withResolvers<void>();
            const connection: DatabaseConnection = {
              executeQuery: (query) =>
                statement(
                  query.sql,
                  () => real.executeQuery(query),
                  async () => {
                    const explain = CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters]);
                    const { rows } = await real.executeQuery<Record<'QUERY PLAN', string>>(explain);
                    return rows.map((row) => row['QUERY PLAN']).join('\n');
                  },
                ),
              streamQuery: (query, chunkSize) => real.streamQuery(query, chunkSize),
            };
            given.set(connection, { real, giveBack });
            resolve(connection);
            await promise;
          })
          .catch(reject);
      }),
    releaseConnection: async (connection) => given.get(connection)?.giveBack(),
    beginTransaction: (connection) => run(connection, 'begin'),
    commitTransaction: async (connection) => {
      beforeCommit?.();
      await run(connection, 'commit');
    },
    rollbackTransaction: (connection) => run(connection, 'rollback'),
    destroy: () => Promise.resolve(),
  };
  return {
    createDriver: () => driver,
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (it) => new PostgresIntrospector(it),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
