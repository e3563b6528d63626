/** A Kysely dialect for a connection to the owner. Each query outside a transaction gets its own transaction. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { parameterText, parserFor } from '../sql/values.ts';
import type { ReadConnection } from './client.ts';

type OpenConnection = () => Promise<ReadConnection>;

/** The dialect of a warehouse that is read through its owner. `values.ts` defines the types of values. */
export const readsDialect = (open: OpenConnection): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driverOf(open),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

/** Its transactions are read-only with repeatable read, whatever settings they ask for. */
function driverOf(open: OpenConnection): Driver {
  const nothing = async (): Promise<void> => undefined;
  const release = async (connection: DatabaseConnection): Promise<void> => (connection as ReadsConnection).release();
  return {
    init: nothing,
    destroy: nothing,
    acquireConnection: async () => new ReadsConnection(open),
    beginTransaction: (connection) => (connection as ReadsConnection).hold(),
    commitTransaction: release,
    rollbackTransaction: release,
    releaseConnection: release,
  };
}

class ReadsConnection implements DatabaseConnection {
  readonly #open: OpenConnection;
  #held: ReadConnection | undefined;

  constructor(open: OpenConnection) {
    this.#open = open;
  }

  async hold(): Promise<void> {
    this.#held = await this.#open();
  }

  release(): void {
    this.#held?.end();
    this.#held = undefined;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const connection = this.#held ?? (await this.#open());
    try {
      const { fields, rows } = await connection.run(sql, parameters.map(parameterText));
      const columns = fields.map(({ name, oid }) => ({ name, parse: parserFor(oid) }));
      return { rows: rows.map((row) => rowOf(columns, row) as R) };
    } finally {
      if (connection !== this.#held) connection.end();
    }
  }

  async *streamQuery<R>(): AsyncGenerator<QueryResult<R>> {
    await Promise.reject(new Error('a read through the owner cannot stream its result'));
    yield { rows: [] };
  }
}

type Column = { readonly name: string; readonly parse: (text: string) => unknown };

const rowOf = (columns: readonly Column[], row: readonly (string | null)[]): Record<string, unknown> =>
  Object.fromEntries(
    columns.map(({ name, parse }, index) => {
      const text = row[index] ?? null;
      return [name, text === null ? null : parse(text)];
    }),
  );
