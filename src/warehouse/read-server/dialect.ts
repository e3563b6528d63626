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

/** The dialect of a warehouse that is read through its owner. `values.ts` defines the types of values. */
export const readsDialect = (open: () => Promise<ReadConnection>): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new ReadsDriver(open),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

class ReadsDriver implements Driver {
  readonly #open: () => Promise<ReadConnection>;

  constructor(open: () => Promise<ReadConnection>) {
    this.#open = open;
  }

  async init(): Promise<void> {}

  acquireConnection(): Promise<ReadsConnection> {
    return Promise.resolve(new ReadsConnection(this.#open));
  }

  /** Begins a read-only transaction with repeatable read. It ignores other settings. */
  beginTransaction(connection: ReadsConnection): Promise<void> {
    return connection.hold();
  }

  commitTransaction(connection: ReadsConnection): Promise<void> {
    return connection.release();
  }

  rollbackTransaction(connection: ReadsConnection): Promise<void> {
    return connection.release();
  }

  releaseConnection(connection: ReadsConnection): Promise<void> {
    return connection.release();
  }

  async destroy(): Promise<void> {}
}

class ReadsConnection implements DatabaseConnection {
  readonly #open: () => Promise<ReadConnection>;
  #held: ReadConnection | undefined;

  constructor(open: () => Promise<ReadConnection>) {
    this.#open = open;
  }

  async hold(): Promise<void> {
    this.#held = await this.#open();
  }

  release(): Promise<void> {
    this.#held?.end();
    this.#held = undefined;
    return Promise.resolve();
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
