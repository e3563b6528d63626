/**
 * One real Postgres for a test run, as a vitest global setup.
 * It is the server in `SLUICE_TEST_DATABASE_URL`, else a container where Docker answers, else the binaries that the
 * checkout brings. Tests reach it through `freshDatabase` in `./database.ts`.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { execute } from './database.ts';
import { type Server, startEmbedded } from './embedded-postgres.ts';
import { useTemporaryFolder } from './temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's Postgres is, as a role that may create databases and roles. */
    postgresUrl: string;
    /** Where test files leave warehouses for others to copy: a folder, and the name of a database. */
    templates: { readonly folder: string; readonly database: string };
  }
}

/** The same version as the binaries that `toolchain/package.json` names, or a test could pass on one and fail on the other. */
const IMAGE = 'postgres:18.4';

/** Sorting by code point and lower-casing beyond ASCII, the same on every machine, whatever locales that has. */
export const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Nothing survives the run, so nothing has to reach the disk or a replica, and a password needs no slow hash. Hundreds of
 * databases live for a moment, and autovacuum would visit them all each minute. Postgres' own limit of 100 connections is too tight for
 * two test files at once with twenty migrators or workers in each.
 */
const SETTINGS = {
  autovacuum_naptime: '10min',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  max_wal_senders: '0',
  scram_iterations: '1',
  synchronous_commit: 'off',
  timezone: 'UTC',
  wal_level: 'minimal',
};

/** Provides `postgresUrl` to the tests and returns what stops the server again. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTemporary = await useTemporaryFolder();
  const server = await startServer();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-templates-'));
  const database = `sluice_template_${randomBytes(8).toString('hex')}`;
  project.provide('postgresUrl', server.url);
  project.provide('templates', { folder, database });
  return async () => {
    await rm(folder, { recursive: true });
    await execute(server.url, `drop database if exists ${database}`);
    await server.stop();
    await removeTemporary();
  };
}

/** The Postgres of a run; the caller stops it. */
export async function startServer(): Promise<Server> {
  const given = process.env['SLUICE_TEST_DATABASE_URL'] ?? '';
  if (given !== '') return reach(given);
  return (await dockerAnswers()) ? startContainer() : startEmbedded([...LOCALE, '--set=scram_iterations=1'], SETTINGS);
}

async function reach(url: string): Promise<Server> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
  } catch (cause) {
    throw new Error(
      'SLUICE_TEST_DATABASE_URL is set, but no Postgres answers there: start it, or unset the variable.',
      {
        cause,
      },
    );
  }
  await client.end();
  return { url, stop: () => Promise.resolve() };
}

async function startContainer(): Promise<Server> {
  // Loaded only here: it takes longer to load than the binaries take to start.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer(IMAGE)
    .withEnvironment({ POSTGRES_INITDB_ARGS: LOCALE.join(' ') })
    .withCommand(['postgres', ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])])
    .start();
  return {
    url: container.getConnectionUri(),
    stop: async () => {
      await container.stop();
    },
  };
}

async function dockerAnswers(): Promise<boolean> {
  const host = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
  if (!URL.canParse(host)) return false;
  const { protocol, pathname, hostname, port } = new URL(host);
  const where = protocol === 'unix:' ? { socketPath: pathname } : { hostname, port };
  return new Promise((resolve) => {
    request({ ...where, path: '/_ping', signal: AbortSignal.timeout(1000) }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
