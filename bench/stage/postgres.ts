/**
 * The Postgres of the benchmarks: the binaries of the checkout with the settings of a small production server and files on
 * the disk, or the server that `SLUICE_BENCH_DATABASE_URL` names.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { startEmbedded } from '../../test/support/embedded-postgres.ts';

/** A running server. */
export interface Postgres {
  readonly url: string;
  /** Its version and settings. */
  readonly about: string;
  /** Creates a database, empty or as a copy of another. It is dropped with the server at the latest. */
  readonly create: (from?: Database) => Promise<Database>;
  readonly stop: () => Promise<void>;
}

export interface Database {
  readonly url: string;
  readonly name: string;
  readonly drop: () => Promise<void>;
}

/** The locale of the tests: the same order and case on every machine. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** All safety settings stay on. Memory and log are large enough that no checkpoint starts during a short run. */
const SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '30min',
  timezone: 'UTC',
};

/** Starts the server with `more` settings, or connects to the one that the environment names. */
export async function startPostgres(more: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const external = process.env['SLUICE_BENCH_DATABASE_URL'] ?? '';
  const settings = { ...SETTINGS, ...more };
  const server =
    external === ''
      ? await startEmbedded(LOCALE, settings, tmpdir())
      : { url: external, stop: (): Promise<void> => Promise.resolve() };
  const version = await valueOf(server.url, 'show server_version');
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return {
    url: server.url,
    about: `Postgres ${version}, ${external === '' ? `on disk, fsync and synchronous_commit on, ${assignments.join(' ')}` : 'the server in SLUICE_BENCH_DATABASE_URL'}`,
    create: (from) => createDatabase(server.url, from),
    stop: () => server.stop(),
  };
}

async function createDatabase(server: string, from: Database | undefined): Promise<Database> {
  const name = `sluice_bench_${randomBytes(6).toString('hex')}`;
  await execute(server, `create database ${name} template ${from?.name ?? 'template0'}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, name, drop: () => execute(server, `drop database if exists ${name} with (force)`) };
}

/** Connects, does the work, and disconnects. */
export async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, types: { getTypeParser: () => String } });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a statement without a result. */
export const execute = (url: string, statement: string): Promise<void> =>
  connected(url, async (client) => void (await client.query(statement)));

/** The only value of a query, as text. */
export const valueOf = (url: string, query: string): Promise<string> =>
  connected(url, async (client) => {
    const { rows } = await client.query<string[]>({ text: query, rowMode: 'array' });
    return String(rows[0]?.[0]);
  });

/** The number of rows of each table in a schema; `except` is a pattern of tables to leave out. */
export async function rowsBy(url: string, schema: string, except = '^$'): Promise<Record<string, number>> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = $1::regnamespace and relname !~ $2 order by 1`,
      [schema, except],
    );
    const counts: Record<string, number> = {};
    for (const { name } of rows) {
      const { rows: counted } = await client.query<{ n: string }>(`select count(*) as n from "${schema}"."${name}"`);
      counts[name] = Number(counted[0]?.n);
    }
    return counts;
  });
}
