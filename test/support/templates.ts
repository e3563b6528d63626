/** What a whole test run makes once and each test file copies: a migrated warehouse of either kind. */
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
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

/** The data of an embedded warehouse, to open others from; made by the first file that asks. */
export async function embeddedTemplate(migrated: boolean): Promise<Blob> {
  const kept = join(inject('templates').folder, migrated ? 'migrated' : 'empty');
  const found = await readFile(kept).catch(() => undefined);
  if (found) return new Blob([found]);
  const made = await dataOf(migrated);
  // Two files may make it at once; the first one's is everybody's, and whoever reads sees the whole of it.
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

/** The name of a migrated database on the run's Postgres that nobody is connected to; made by the first file that asks. */
export async function postgresTemplate(): Promise<string> {
  const { database } = inject('templates');
  const server = inject('postgresUrl');
  if (await exists(server, database)) return database;
  const made = await freshDatabase();
  const warehouse = await openWarehouse(
    { url: new Secret(made.url), schema: SCHEMA },
    { now: () => new Date(), sleep: () => Promise.resolve() },
  );
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
