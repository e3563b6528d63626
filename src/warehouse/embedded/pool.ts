/**
 * A pool of one connection to an embedded database, so that the driver for servers runs its statements, with the same
 * types, errors and results. Statements wait while a transaction has the connection.
 */
import type { Dialect } from 'kysely';
import { Client, Pool, type PoolClient, type QueryResult, type Submittable } from 'pg';
import { TransientError } from '../../errors.ts';
import { PooledDialect } from '../connect/dialect.ts';
import { stopOnAbort } from '../connect/stop-on-abort.ts';
import { isCopy, textParts } from '../sql/copy.ts';
import { sessionOfPool, type TextSession } from '../sql/read-only-session.ts';
import { parserFor } from '../sql/values.ts';
import { DatabaseStream } from './stream.ts';
import type { EmbeddedDatabase } from './thread.ts';

export interface EmbeddedPool {
  readonly dialect: Dialect;
  /** Runs statements of users. An aborted signal abandons the running one, which is ended soon after. */
  readonly session: TextSession;
  /** Runs one statement with parameters, or any number without, and returns the rows of all. */
  readonly runScript: (text: string, values?: readonly unknown[]) => Promise<{ readonly rows: unknown[] }>;
}

type Session = Pick<EmbeddedDatabase, 'exchange' | 'limitRunning'>;

interface PoolLimits {
  /** Throws if a statement with parameters of this size must not run. */
  readonly assertRoom?: ((bytes: number) => void) | undefined;
  /** Ends the work of a user who only reads when it aborts. */
  readonly until?: AbortSignal | undefined;
}

/** Opens the pool. */
export function openPool(database: Session, { assertRoom, until }: PoolLimits = {}): EmbeddedPool {
  const pool = new Pool({
    max: 1,
    idleTimeoutMillis: 0,
    user: 'postgres',
    password: '',
    Client: clientOf(database, assertRoom),
    types: { getTypeParser: ((oid: number) => parserFor(oid)) as never },
  });
  // Without the listeners, the end of the database would end the process. The next statement reports the error.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const cancel = (client: PoolClient): void => abandon(client, database);
  if (until) stopOnAbort(pool, cancel, until);
  return {
    dialect: new PooledDialect(pool),
    session: sessionOfPool(pool, cancel),
    runScript: (text, values) => runScript(pool, text, values),
  };
}

/** How long an abandoned statement may keep the only session of the database. To end it costs a start of the database. */
const ABANDONED_MS = 5000;

/** Ends the connection. The next one waits for the end of the statement, and its transaction is rolled back. */
function abandon(client: PoolClient, database: Session): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: DatabaseStream } };
  connection.stream.destroy(new TransientError('The query was stopped.', { next: 'Run it again.' }));
  database.limitRunning(ABANDONED_MS);
}

async function runScript(pool: Pool, text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const found: QueryResult | QueryResult[] = await client.query(text, [...values]);
    isBroken = false;
    return { rows: [found].flat().flatMap(({ rows }) => rows as unknown[]) };
  } finally {
    // A script that failed inside of its transaction left it open.
    client.release(isBroken);
  }
}

/** What the next connection sends, so that it finds no transaction and no settings of the one before. */
const RESET = ['rollback', 'discard all'];

function clientOf(database: Session, assertRoom: (bytes: number) => void = () => undefined): typeof Client {
  let isFirst = true;
  const reset = async (): Promise<void> => {
    for (const text of isFirst ? [] : RESET) await database.exchange(simpleQuery(text), () => undefined);
    isFirst = false;
  };
  return class extends Client {
    constructor(config?: object) {
      super({ ...config, stream: () => new DatabaseStream(database, reset) });
    }

    override query(...[statement, values, ...others]: unknown[]): never {
      const query = super.query.bind(this) as (...parameters: unknown[]) => never;
      if (isEndOfTransaction(statement)) return query(statement, values, ...others);
      const parameters = values ?? (statement as { readonly values?: unknown }).values;
      try {
        assertRoom(bytesOf(statement) + bytesOf(parameters));
      } catch (error) {
        return rejected(error) as never;
      }
      if (typeof statement === 'string' && isCopy(statement))
        return copyAtOnce(query, statement, (values as [string | Iterable<string>])[0]) as never;
      return query(statement, values, ...others);
    }
  };
}

const rejected = async (error: unknown): Promise<never> => {
  throw error;
};

/** The end of a transaction is never refused. */
const isEndOfTransaction = (statement: unknown): boolean => statement === 'commit' || statement === 'rollback';

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.byteLength;
  return Array.isArray(value) ? value.reduce<number>((sum, it) => sum + bytesOf(it), 0) : 0;
};

/** The message of the wire protocol that runs a text without parameters. */
function simpleQuery(text: string): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(`${text}\0`);
  const message = new Uint8Array(5 + body.length);
  message[0] = 0x51;
  new DataView(message.buffer).setUint32(1, 4 + body.length);
  message.set(body, 5);
  return message;
}

/** The driver's methods for a copy, which its types omit. */
interface CopyConnection {
  readonly stream: DatabaseStream;
  readonly query: (text: string) => void;
  readonly sendCopyFromChunk: (chunk: Buffer) => void;
  readonly endCopyFrom: () => void;
}

/**
 * Sends a copy with all its rows in one message, because the database does not return from a copy whose rows are incomplete.
 * Returns a result like that of an insert.
 */
function copyAtOnce(
  query: (copy: Submittable) => unknown,
  statement: string,
  text: string | Iterable<string>,
): Promise<{ command: string; rowCount: number; rows: [] }> {
  return new Promise((resolve, reject) => {
    const parts = Array.from(textParts(text), (part) => Buffer.from(part));
    let rowCount = 0;
    let failure: Error | undefined;
    query({
      submit: (connection: unknown) => {
        const wire = connection as CopyConnection;
        wire.stream.cork();
        wire.query(statement);
        for (const part of parts) wire.sendCopyFromChunk(part);
        wire.endCopyFrom();
        wire.stream.uncork();
      },
      handleCopyInResponse: () => undefined,
      handleCommandComplete: ({ text: tag }: { readonly text: string }) => {
        rowCount = Number(tag.split(' ')[1]);
      },
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => {
        if (!failure) resolve({ command: 'INSERT', rowCount, rows: [] });
      },
    } as Submittable);
  });
}
