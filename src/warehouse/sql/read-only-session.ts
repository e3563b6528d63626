/** A connection below Kysely, for statements that others write: it tells the columns of an empty result, and values as text. */
import type { PGlite } from '@electric-sql/pglite';
import type { Pool, PoolClient, QueryArrayConfig } from 'pg';

export interface TextResult {
  readonly fields: readonly { readonly name: string; readonly oid: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Runs exactly one statement, its parameters given as text; the protocol itself refuses more. */
export type RunText = (statement: string, parameters?: readonly (string | null)[]) => Promise<TextResult>;

/**
 * Lends a connection inside a transaction that can only read, and rolls it back. When the signal aborts, a server's
 * statement is cancelled; an embedded one can't be.
 */
export type TextSession = <T>(work: (run: RunText) => Promise<T>, signal?: AbortSignal) => Promise<T>;

const raw = (text: string): string => text;

/** Sessions of a pool; `cancel` stops what one of its clients runs. */
export const sessionOfPool =
  (pool: Pool, cancel: (client: PoolClient) => void): TextSession =>
  async (work, signal) => {
    signal?.throwIfAborted();
    const client = await pool.connect();
    const run: RunText = async (text, values = []) => {
      // Without parameters the driver would send it as a script, which may hold several statements.
      const statement = { text, values, rowMode: 'array', queryMode: 'extended', types: { getTypeParser: () => raw } };
      const { fields, rows } = await client.query(statement as unknown as QueryArrayConfig);
      return { fields: fields.map(({ name, dataTypeID: oid }) => ({ name, oid })), rows: rows as (string | null)[][] };
    };
    const stop = (): void => cancel(client);
    let broken = true;
    try {
      await client.query('begin transaction read only');
      signal?.addEventListener('abort', stop, { once: true });
      return await work(run);
    } finally {
      signal?.removeEventListener('abort', stop);
      await client.query('rollback').then(
        // A cancellation that comes late would hit whoever has the connection then.
        () => (broken = signal?.aborted ?? false),
        () => undefined,
      );
      client.release(broken);
    }
  };

export function sessionOfPGlite(pglite: PGlite): TextSession {
  return async (work, signal) => {
    signal?.throwIfAborted();
    const parsers = Object.fromEntries(Object.keys(pglite.parsers).map((oid) => [oid, raw]));
    return pglite.transaction(async (transaction) => {
      const run: RunText = async (statement, parameters = []) => {
        const { fields, rows } = await transaction.query(statement, [...parameters], { rowMode: 'array', parsers });
        return {
          fields: fields.map(({ name, dataTypeID: oid }) => ({ name, oid })),
          rows: rows as unknown as (string | null)[][],
        };
      };
      await run('set transaction read only');
      const result = await work(run);
      await transaction.rollback();
      return result;
    });
  };
}
