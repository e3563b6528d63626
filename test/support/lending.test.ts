/** A database that is given out again is as its template was made, or it is another. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { databaseOf, openPGlite } from './embedded-database.ts';
import { borrow, type Loan } from './lending.ts';
import { runQuickstart } from './quickstart.ts';
import { restorerOf } from './restoring.ts';
import { embeddedTemplate, SCHEMA } from './templates.ts';
import { realEffects } from './warehouse.ts';

type Row = Record<string, unknown>;

/** What truncating may change without anybody seeing it: the names of files, and how old their oldest rows can be. */
const UNSEEN = ['relfilenode', 'relfrozenxid', 'relminmxid', 'datfrozenxid', 'datminmxid'];

/** All that a session can see: every row of every table and catalog, sequences, sizes, settings and what it holds. */
async function dumpOf(pglite: PGlite): Promise<Row> {
  const rowsOf = async (text: string): Promise<Row[]> => (await pglite.query<Row>(text)).rows;
  const tables = await rowsOf(`select oid::regclass::text as name,
    exists(select from pg_attribute where attrelid = c.oid and attname = any('{${UNSEEN.join(', ')}}')) as differs
    from pg_class c where relkind = 'r' order by 1`);
  const dump: Row = {};
  for (const { name, differs } of tables as { name: string; differs: boolean }[]) {
    const row = differs ? `to_jsonb(t) - '{${UNSEEN.join(', ')}}'::text[]` : 't';
    dump[name] = await rowsOf(`select count(*), sum(hashtextextended((${row})::text, 0))::text from ${name} t`);
  }
  dump['sequences'] = await rowsOf('select * from pg_sequences order by 1, 2');
  dump['sizes'] = await rowsOf(`select oid, pg_relation_size(oid) as size from pg_class
    where oid >= 16384 and relkind in ('r', 'i', 't', 'S') order by 1`);
  // The settings of a language appear when one of its triggers fires first; they say nothing of what was left behind.
  dump['settings'] = await rowsOf(
    `select name, setting, source from pg_settings where name not like 'plpgsql.%' or source <> 'default' order by 1`,
  );
  dump['held'] = await rowsOf(`select locktype, mode from pg_locks where locktype = 'advisory'
    union all select 'prepared', name from pg_prepared_statements`);
  return dump;
}

async function lent(): Promise<Loan> {
  const loan = await borrow();
  onTestFinished(loan.giveBack);
  return loan;
}

/** A copy of the template that is never lent, and its contents before any test. */
let unlent: PGlite;
let template: Row;
beforeAll(async () => {
  unlent = await openPGlite(await embeddedTemplate(true));
  template = await dumpOf(unlent);
});
afterAll(() => unlent.close());

/** Distinguishes databases: counts transactions, and never starts over. */
const ageOf = async ({ pglite }: Loan): Promise<number> => {
  const { rows } = await pglite.query<{ age: string }>('select pg_current_xact_id()::text as age');
  return Number(rows[0]?.age);
};

/** Gives a database back after this work on it, and borrows again: the same, or another. */
async function borrowedAfter(
  work: (pglite: PGlite) => Promise<unknown>,
): Promise<{ readonly pglite: PGlite; readonly isSame: boolean }> {
  const first = await lent();
  await work(first.pglite);
  const age = await ageOf(first);
  await first.giveBack();
  const second = await lent();
  return { pglite: second.pglite, isSame: (await ageOf(second)) > age };
}

describe('a database that is given back', () => {
  it('is given out again as it was made, whatever rows a sync left', async () => {
    const { pglite, isSame } = await borrowedAfter(async (memory) => {
      const warehouse = await openWarehouse(
        { url: new Secret('embedded:memory://'), schema: SCHEMA },
        { ...realEffects, memory: databaseOf(memory) },
      );
      expect((await runQuickstart(warehouse)).exitCode).toBe(0);
      await memory.exec(`delete from sluice_ops.quarantine`);
    });
    expect(isSame).toBe(true);
    expect(await dumpOf(pglite)).toEqual(template);
  });

  it('is given out without what a session left behind', async () => {
    const { pglite, isSame } = await borrowedAfter(async (mine) => {
      await mine.exec(`set timezone = 'Asia/Tokyo'; set search_path = sluice`);
      await mine.exec(`prepare left_behind as select 1`);
      await mine.exec(`select pg_advisory_lock(7)`);
    });
    expect(isSame).toBe(true);
    expect(await dumpOf(pglite)).toEqual(template);
  });

  it.each([
    ['a table', 'create table sluice.added (n int)'],
    ['a table that is gone again', 'begin; create table sluice.other (n int); rollback'],
    ['a temporary table', 'create temporary table other (n int)'],
    ['a column', 'alter table sluice.web_pages add column other int'],
    ['a comment', `comment on table sluice.web_pages is 'other'`],
    ['a role', 'create role other'],
    ['a setting of a role', 'alter role postgres set work_mem = 1024'],
    ['a privilege', 'grant select on sluice.web_pages to public'],
    ['statistics', 'insert into sluice_ops.leases select * from sluice_ops.leases; analyze sluice.web_pages, pg_class'],
    ['a count of rows', 'vacuum sluice.web_pages'],
    ['the position of a sequence', `select setval(pg_get_serial_sequence('sluice_ops.runs', 'id'), 9)`],
    ['rows of the template', 'delete from sluice_ops.kysely_migration'],
    ['a large object', 'select lo_create(0)'],
  ])('cannot be restored if a borrower changed %s', async (_, statement) => {
    // From the state that the previous case left, because opening another database for each takes a second.
    const restore = await restorerOf(unlent);
    await unlent.exec(statement);
    expect(await restore()).toBe(false);
  });

  it('is not lent again if it cannot be restored', async () => {
    const { isSame } = await borrowedAfter((pglite) => pglite.exec('create table sluice.other (n int)'));
    expect(isSame).toBe(false);
  });

  it('is not given out again while a transaction is open', async () => {
    const first = await lent();
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const open = first.pglite.transaction(async () => {
      begun.resolve();
      await over.promise;
    });
    await begun.promise;
    await first.giveBack();
    // It would wait for the transaction, were it the same.
    expect(await dumpOf((await lent()).pglite)).toEqual(template);
    over.resolve();
    await open;
  });

  it('is not given out again when its borrower closed it', async () => {
    const first = await lent();
    await first.pglite.close();
    await first.giveBack();
    expect((await lent()).pglite.closed).toBe(false);
  });

  it('is out of reach for who had it', async () => {
    const { pglite, giveBack } = await borrow();
    await giveBack();
    expect(() => pglite.query('select 1')).toThrow('revoked');
  });
});
