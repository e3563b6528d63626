/** What a test run creates once and each test file copies: a migrated warehouse of either kind. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { Client } from 'pg';
import { inject } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema, migrate } from '../../src/warehouse/migrate/migrate.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { copyFolder } from './copy-folder.ts';
import { execute, freshDatabase } from './database.ts';
import { openPGlite } from './embedded-database.ts';
import { once, onceInRun } from './once-in-run.ts';

/** The schema that a template holds. */
export const SCHEMA = 'sluice';

const effects = { now: () => new Date(), sleep: () => Promise.resolve() };

/** The data of an embedded warehouse, from which others are opened; the first caller creates it. */
export async function embeddedTemplate(migrated: boolean): Promise<Blob> {
  const kept = await onceInRun(migrated ? 'migrated' : 'empty', async (path) =>
    writeFile(path, Buffer.from(await (await dataOf(migrated)).arrayBuffer())),
  );
  return new Blob([await readFile(kept)]);
}

/** Creating a database takes 3 s of processor time, so the migrated one is made from the empty one. */
async function dataOf(migrated: boolean): Promise<Blob> {
  const pglite = await (migrated ? openPGlite(await embeddedTemplate(false)) : PGlite.create());
  const db = new Kysely<OperationsTables>({ dialect: new PGliteDialect({ pglite }) });
  if (migrated) await migrate({ kind: 'embedded', schema: SCHEMA, ops: `${SCHEMA}_ops`, db }, 'up');
  else await dropTemplates(pglite);
  // Only a segment of the log that has not been written to is copied with the data.
  await pglite.exec('set wal_recycle = off; select pg_switch_wal(); checkpoint');
  const data = await pglite.dumpDataDir('none');
  await pglite.close();
  return data;
}

/** Removes the databases that only `create database` copies: they are half of the files, and opening a copy writes each. */
async function dropTemplates(pglite: PGlite): Promise<void> {
  for (const name of ['template0', 'template1']) {
    await pglite.exec(`alter database ${name} is_template false`);
    await pglite.exec(`drop database ${name}`);
  }
}

/** Puts a migrated embedded warehouse without rows into a folder that does not exist yet. Creating one takes 5 s. */
export async function copyEmbedded(folder: string): Promise<void> {
  copyFolder(await embeddedFolder(), folder);
}

/** The folder that the copies are made of; the first file that needs one creates it. */
const embeddedFolder = (): Promise<string> =>
  onceInRun('warehouse', async (folder) => {
    await mkdir(folder, { mode: 0o700 });
    const from = await embeddedTemplate(true);
    const pglite = await PGlite.create({ dataDir: join(folder, 'data'), loadDataDir: from });
    await pglite.close();
  });

/** The name of a migrated database on the run's Postgres without connections; the first caller creates it. */
export async function postgresTemplate(): Promise<string> {
  const { database } = inject('templates');
  const server = inject('postgresUrl');
  await once(
    'database',
    () => exists(server, database),
    async () => {
      const made = await freshDatabase();
      const warehouse = await openWarehouse({ url: new Secret(made.url), schema: SCHEMA }, effects);
      await ensureSchema(warehouse);
      await warehouse.close();
      await execute(server, `alter database ${new URL(made.url).pathname.slice(1)} rename to ${database}`);
    },
  );
  return database;
}

/** The two, for scenarios that make their own warehouses. */
export const migrated = { postgres: postgresTemplate, embedded: copyEmbedded };

async function exists(server: string, name: string): Promise<boolean> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    return rowCount === 1;
  } finally {
    await client.end();
  }
}
