/** Warehouses for tests, of both kinds, each a test's own and ready in a moment. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, onTestFinished, TestRunner } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type OpenEffects, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { borrow, type Loan } from './lending.ts';
import { IS_LONG } from './long.ts';
import { databaseOf, openPGlite } from './embedded-database.ts';
import { freshDatabase } from './database.ts';
import { embeddedTemplate, postgresTemplate, SCHEMA } from './templates.ts';

export { SCHEMA };

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

/** Opens a warehouse that no other test uses; it is closed and removed when the tests of its suite are done. */
export type Open = (options?: OpenOptions) => Promise<Warehouse>;

/**
 * Runs a suite on the embedded warehouse and on a Postgres server. It is for suites in which the kinds can differ: SQL of
 * views and statements, `COPY`, types, migrations, errors of the database, locks, transactions, interruption, processes.
 */
export function eachWarehouse(name: string, suite: (open: Open, kind: Warehouse['kind']) => void): void {
  describe(`${name} (embedded)`, () => suite(embeddedWarehouses(), 'embedded'));
  describe(`${name} (postgres)`, () => suite(postgresWarehouses(), 'postgres'));
}

/**
 * Runs a suite that is the same on any warehouse, such as one about decisions, money or output: all of it on a Postgres
 * server, and its first test on the embedded warehouse too. With `SLUICE_LONG=1` that gets all of it.
 */
export function anyWarehouse(name: string, suite: (open: Open, kind: Warehouse['kind']) => void): void {
  eachWarehouse(name, (open, kind) => {
    suite(open, kind);
    if (kind === 'embedded' && !IS_LONG) TestRunner.getCurrentSuite().tasks.splice(1);
  });
}

/**
 * Opens embedded warehouses in memory. Making one takes seconds and copying one takes half a second, so those that are
 * migrated are lent, and are returned at the end of the test or suite that borrowed them.
 */
export function embeddedWarehouses(): Open {
  const atTheEnd = endOfOpener();
  return async ({ migrated = true, schema = SCHEMA } = {}) => {
    const isLent = migrated && schema === SCHEMA;
    const { pglite, giveBack } = await (isLent ? borrow() : own());
    atTheEnd(giveBack);
    const warehouse = await openWarehouse(
      { url: new Secret('embedded:memory://'), schema },
      { ...realEffects, memory: databaseOf(pglite) },
    );
    if (migrated && !isLent) await ensureSchema(warehouse);
    return warehouse;
  };
}

/** Returns a function that keeps work for the end of the test that calls it, or of the suite if no test does. */
function endOfOpener(): (work: () => Promise<void>) => void {
  const kept: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(kept.map((work) => work())));
  return (work) => {
    if (TestRunner.getCurrentTest()) onTestFinished(work);
    else kept.push(work);
  };
}

async function own(): Promise<Loan> {
  const pglite = await openPGlite(await embeddedTemplate(false));
  return { pglite, giveBack: async () => void (pglite.closed || (await pglite.close())) };
}

/**
 * Opens databases of their own on the run's Postgres, copied from one that was migrated once a run. Each goes at the end of
 * the test or suite that opened it, so that the connections of a file with many tests are not open together.
 */
export function postgresWarehouses(): Open {
  const atTheEnd = endOfOpener();
  return async ({ migrated = true, schema = SCHEMA } = {}) => {
    const copied = migrated && schema === SCHEMA;
    const database = await freshDatabase(copied ? await postgresTemplate() : undefined);
    const warehouse = await openWarehouse({ url: new Secret(database.url), schema }, realEffects);
    atTheEnd(() => warehouse.close().then(() => database.drop()));
    if (migrated && !copied) await ensureSchema(warehouse);
    return warehouse;
  };
}
