/** Warehouses for tests, of both kinds, each a test's own and ready in a moment. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { Client } from 'pg';
import { afterAll, describe, inject } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { openWarehouse, type OpenEffects, type Warehouse } from '../../src/warehouse/connect.ts';
import { ensureSchema, migrate } from '../../src/warehouse/migrate.ts';
import type { OperationsTables } from '../../src/warehouse/operations.ts';
import { freshDatabase, type FreshDatabase } from './database.ts';

export const SCHEMA = 'sluice';

/** Effects of the real world. */
export const realEffects: OpenEffects = {
  now: () => new Date(),
  sleep: (ms, signal) => wait(ms, undefined, signal && { signal }),
};

export interface OpenOptions {
  /** False gives an empty database. */
  readonly migrated?: boolean;
  readonly schema?: string;
}

/** Opens a warehouse nobody else uses; it is closed and removed when the tests of its suite are done. */
export type Open = (options?: OpenOptions) => Promise<Warehouse>;

/** Runs a suite against the embedded warehouse and against a Postgres server. */
export function eachWarehouse(name: string, suite: (open: Open, kind: Warehouse['kind']) => void): void {
  describe(`${name} (embedded)`, () => suite(embeddedWarehouses(), 'embedded'));
  describe(`${name} (postgres)`, () => suite(postgresWarehouses(), 'postgres'));
}

/** Opens embedded warehouses in memory, copied from one that was made once: making one takes a second. */
export function embeddedWarehouses(): Open {
  const templates = { empty: lazily(() => dataOf(false)), migrated: lazily(() => dataOf(true)) };
  const opened: Warehouse[] = [];
  afterAll(() => Promise.all(opened.map((it) => it.close())));
  return async ({ migrated = true, schema = SCHEMA } = {}) => {
    const copied = migrated && schema === SCHEMA;
    const warehouse = await openWarehouse(
      { url: new Secret('embedded:memory://'), schema },
      { ...realEffects, copyOf: await (copied ? templates.migrated() : templates.empty()) },
    );
    opened.push(warehouse);
    if (migrated && !copied) await ensureSchema(warehouse);
    return warehouse;
  };
}

async function dataOf(migrated: boolean): Promise<Blob> {
  const pglite = await PGlite.create();
  const db = new Kysely<OperationsTables>({ dialect: new PGliteDialect({ pglite }) });
  if (migrated) await migrate({ kind: 'embedded', schema: SCHEMA, ops: `${SCHEMA}_ops`, db }, 'up');
  const data = await pglite.dumpDataDir('none');
  await pglite.close();
  return data;
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Opens databases of their own on the run's Postgres, copied from one that was migrated once. */
export function postgresWarehouses(): Open {
  let template: Promise<FreshDatabase> | undefined;
  const opened: { readonly warehouse: Warehouse; readonly database: FreshDatabase }[] = [];
  afterAll(async () => {
    await Promise.all(opened.map(({ warehouse, database }) => warehouse.close().then(() => database.drop())));
    await (await template)?.drop();
  });
  return async ({ migrated = true, schema = SCHEMA } = {}) => {
    const copied = migrated && schema === SCHEMA ? await (template ??= migratedDatabase()) : undefined;
    const database = await (copied ? copyOf(copied) : freshDatabase());
    const warehouse = await openWarehouse({ url: new Secret(database.url), schema }, realEffects);
    opened.push({ warehouse, database });
    if (migrated && !copied) await ensureSchema(warehouse);
    return warehouse;
  };
}

async function migratedDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  const warehouse = await openWarehouse({ url: new Secret(database.url), schema: SCHEMA }, realEffects);
  await ensureSchema(warehouse);
  await warehouse.close();
  return database;
}

async function copyOf(template: FreshDatabase): Promise<FreshDatabase> {
  const name = `sluice_test_${randomBytes(8).toString('hex')}`;
  const url = new URL(template.url);
  await onServer(`create database ${name} template ${url.pathname.slice(1)} strategy file_copy`);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database if exists ${name} with (force)`) };
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
