/** Databases for tests, each on the Postgres that the run provides. */
import { Client, Pool } from 'pg';
import { inject } from 'vitest';
import { copyDatabase } from './copy-database.ts';

/** A database of a test's own. */
export interface FreshDatabase {
  readonly url: string;
  /** Removes the database, also when connections to it are still open. */
  drop(): Promise<void>;
}

let administrators: Pool | undefined;

/** Connections to the run's server that all databases of this process share. */
function administrator(): Pool {
  if (!administrators) {
    administrators = new Pool({ connectionString: inject('postgresUrl'), idleTimeoutMillis: 0, allowExitOnIdle: true });
    // The server may end before this process.
    administrators.on('error', () => undefined);
  }
  return administrators;
}

/**
 * Creates a database with a unique name: empty, or a copy of one without connections.
 * The caller drops it; what is forgotten goes away with the server that the run started.
 */
export async function freshDatabase(template = 'template0'): Promise<FreshDatabase> {
  const name = await copyDatabase(administrator(), template);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await administrator().query(`drop database if exists ${name} with (force)`)),
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
