/** Databases for tests, each on the Postgres that the run provides. */
import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { inject } from 'vitest';
import { memoize } from '../../src/async/memoize.ts';

/** A database of a test's own. */
export interface FreshDatabase {
  readonly url: string;
  /** Removes the database, also when connections to it are still open. */
  drop(): Promise<void>;
}

let administrators: Pool | undefined;

/** Runs one statement on the run's server, on connections that all databases of this process share. */
async function administer(statement: string): Promise<readonly Record<string, unknown>[]> {
  if (!administrators) {
    administrators = new Pool({ connectionString: inject('postgresUrl'), idleTimeoutMillis: 0, allowExitOnIdle: true });
    // The server may end before this process.
    administrators.on('error', () => undefined);
  }
  return (await administrators.query<Record<string, unknown>>(statement)).rows;
}

/**
 * Copies the files of a database. Otherwise the complete copy goes through the write-ahead log first, which takes up to three
 * times as long. Before Postgres 15 there is no other way.
 */
const fileCopy = memoize(async () => {
  const [{ version } = {}] = await administer(`select current_setting('server_version_num')::int as version`);
  return Number(version) >= 150_000 ? 'strategy file_copy' : '';
});

/**
 * Creates a database with a unique name: empty, or a copy of one without connections.
 * The caller drops it; what is forgotten goes away with the server that the run started.
 */
export async function freshDatabase(template = 'template0'): Promise<FreshDatabase> {
  const name = `sluice_test_${randomBytes(8).toString('hex')}`;
  await administer(`create database ${name} template ${template} ${await fileCopy()}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await administer(`drop database if exists ${name} with (force)`)),
  };
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
