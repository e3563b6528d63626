/**
 * A connection without Kysely for statements of users. It returns values as text, and the columns even of an empty
 * result.
 */
import type { Pool, PoolClient, QueryArrayConfig } from 'pg';

export interface TextResult {
  readonly fields: readonly { readonly name: string; readonly oid: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Runs exactly one statement, with its parameters as text. The protocol refuses several statements. */
export type RunText = (statement: string, parameters?: readonly (string | null)[]) => Promise<TextResult>;

/**
 * Runs one statement and yields its rows in parts, so that a result of any length takes little memory. There is at least one
 * part, and each has the columns. A statement must be read to its end before the next one begins.
 */
export type StreamText = (statement: string, parameters?: readonly (string | null)[]) => AsyncIterable<TextResult>;

/**
 * Runs the work in a read-only transaction, which is rolled back at the end. Its statements all see the same moment. An
 * aborted signal cancels the statement on a server. An embedded database finishes the statement, but the work does not wait
 * for it.
 */
export type TextSession = <T>(
  work: (run: RunText, stream: StreamText) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

const CURSOR = 'sluice_read';
/** The beginning of the statement that opens the cursor; the streamed statement follows. */
export const CURSOR_FOR = `declare ${CURSOR} no scroll cursor for `;
/** Most rows per fetch, and their approximate length: one row may contain a page of megabytes. */
const MOST_ROWS = 100;
const MOST_LENGTH = 4 * 2 ** 20;

/** Streams results through a cursor of the transaction in which `run` works. */
export const streamOf = (run: RunText): StreamText =>
  async function* stream(statement, parameters): AsyncGenerator<TextResult, void> {
    await run(CURSOR_FOR + statement, parameters);
    // The first fetch has one row, to get the columns soon. The size of the rows is unknown.
    for (let count = 1; ; ) {
      const part = await run(`fetch ${count} from ${CURSOR}`);
      yield part;
      if (part.rows.length < count) break;
      count = rowsAfter(part);
    }
    await run(`close ${CURSOR}`);
  };

/** How many rows as long as these to fetch next. */
function rowsAfter({ rows }: TextResult): number {
  const length = rows.flat().reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
  return Math.min(MOST_ROWS, Math.max(1, Math.floor((MOST_LENGTH * rows.length) / Math.max(1, length))));
}

const raw = (text: string): string => text;

/** Sessions of a pool. `cancel` stops the statement of a client. */
export const sessionOfPool =
  (pool: Pool, cancel: (client: PoolClient) => void): TextSession =>
  async (work, signal) => {
    signal?.throwIfAborted();
    const client = await pool.connect();
    const run: RunText = async (text, values = []) => {
      // A cancellation has no effect between statements, and the signal may have been aborted before anything listened.
      signal?.throwIfAborted();
      // Extended mode, because the driver would otherwise send a text without parameters as a script of several
      // statements.
      const statement = { text, values, rowMode: 'array', queryMode: 'extended', types: { getTypeParser: () => raw } };
      const { fields, rows } = await client.query(statement as unknown as QueryArrayConfig);
      return { fields: fields.map(({ name, dataTypeID: oid }) => ({ name, oid })), rows: rows as (string | null)[][] };
    };
    const cancelClient = (): void => cancel(client);
    let broken = true;
    try {
      await client.query('begin transaction isolation level repeatable read, read only');
      signal?.addEventListener('abort', cancelClient, { once: true });
      return await work(run, streamOf(run));
    } finally {
      signal?.removeEventListener('abort', cancelClient);
      await client.query('rollback').then(
        // A late cancellation could hit the next user of the connection, so a connection with a cancellation is
        // dropped.
        () => (broken = signal?.aborted ?? false),
        () => undefined,
      );
      client.release(broken);
    }
  };
