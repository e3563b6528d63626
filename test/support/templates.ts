/** What a test run creates once and each test file copies: a migrated warehouse of either kind. */
import { randomBytes } from 'node:crypto';
import { constants, cp, link, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { Client } from 'pg';
import { inject } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema, migrate } from '../../src/warehouse/migrate/migrate.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { execute, freshDatabase } from './database.ts';

/** The schema that a template holds. */
export const SCHEMA = 'sluice';

const effects = { now: () => new Date(), sleep: () => Promise.resolve() };

/** The data of an embedded warehouse, from which others are opened; the first caller creates it. */
export async function embeddedTemplate(migrated: boolean): Promise<Blob> {
  const kept = join(inject('templates').folder, migrated ? 'migrated' : 'empty');
  const found = await readFile(kept).catch(() => undefined);
  if (found) return new Blob([found]);
  const made = await dataOf(migrated);
  // Two files may create it at once; all use the first one, and no reader sees an incomplete one.
  const unfinished = `${kept}.${randomBytes(8).toString('hex')}`;
  await writeFile(unfinished, Buffer.from(await made.arrayBuffer()));
  await link(unfinished, kept).catch((error: unknown) => {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  });
  await rm(unfinished);
  return embeddedTemplate(migrated);
}

async function dataOf(migrated: boolean): Promise<Blob> {
  const pglite = await PGlite.create();
  const db = new Kysely<OperationsTables>({ dialect: new PGliteDialect({ pglite }) });
  if (migrated) await migrate({ kind: 'embedded', schema: SCHEMA, ops: `${SCHEMA}_ops`, db }, 'up');
  const data = await pglite.dumpDataDir('none');
  await pglite.close();
  return data;
}

/**
 * Puts a migrated embedded warehouse without rows into a folder that does not exist yet. Creating one takes 3 s of
 * processor time, copying one a tenth of that.
 */
export async function copyEmbedded(folder: string): Promise<void> {
  await cp(await embeddedFolder(), folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** The folder that the copies are made of; the first file that needs one creates it. */
async function embeddedFolder(): Promise<string> {
  const kept = join(inject('templates').folder, 'warehouse');
  if (await stat(kept).catch(() => undefined)) return kept;
  const unfinished = await mkdtemp(`${kept}.`);
  const warehouse = await openWarehouse({ url: new Secret(`embedded:${unfinished}`), schema: SCHEMA }, effects);
  await ensureSchema(warehouse);
  await warehouse.close();
  try {
    await rename(unfinished, kept);
  } catch (error) {
    await rm(unfinished, { recursive: true });
    if ((error as { code?: string }).code !== 'ENOTEMPTY') throw error;
  }
  return kept;
}

/** The name of a migrated database on the run's Postgres without connections; the first caller creates it. */
export async function postgresTemplate(): Promise<string> {
  const { database } = inject('templates');
  const server = inject('postgresUrl');
  if (await exists(server, database)) return database;
  const made = await freshDatabase();
  const warehouse = await openWarehouse({ url: new Secret(made.url), schema: SCHEMA }, effects);
  await ensureSchema(warehouse);
  await warehouse.close();
  try {
    await execute(server, `alter database ${new URL(made.url).pathname.slice(1)} rename to ${database}`);
  } catch (error) {
    await made.drop();
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
  return database;
}

/** The two, for scenarios that make their own warehouses. */
export const migrated = { postgres: postgresTemplate, embedded: copyEmbedded };

const DUPLICATE_DATABASE = '42P04';

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
