import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { dumpSchema } from '../support/dump-schema.ts';
import { ensureSchema, migrate, migrationStatus } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { viewsDigest } from '../../src/warehouse/migrate/views.ts';
import { VIEWS_DIGEST } from '../../src/warehouse/migrate/views-current.ts';
import { views, viewsByDependency } from '../../src/warehouse/schema/views/views.ts';
import { quoted } from '../../src/warehouse/sql/identifiers.ts';
import { IS_LONG } from '../support/long.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const GOLDEN = new URL('../golden/schema.sql', import.meta.url);
const golden = (): Promise<string> => readFile(GOLDEN, 'utf8');

/** Makes the migrator take the view for one of an earlier version. */
const outdate = ({ db }: Warehouse, name: string) =>
  sql`update sluice_ops.applied_views set checksum = 'other' where name = ${name}`.execute(db);

/** The object ids of the views. A view that is replaced keeps its id. */
async function ids({ db }: Warehouse): Promise<Readonly<Record<string, string>>> {
  const { rows } = await sql<{ name: string; oid: string }>`
    select relname as name, oid::text from pg_class where relkind = 'v' and relnamespace = 'sluice'::regnamespace`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ name, oid }) => [name, oid]));
}

async function rights({ db }: Warehouse, name: string): Promise<unknown[]> {
  const { rows } = await sql`
    select x.grantee::regrole::text as role, x.privilege_type, x.is_grantable, null as column
    from pg_class c cross join aclexplode(c.relacl) x where c.oid = ${`sluice.${name}`}::regclass and x.grantee <> c.relowner
    union all
    select x.grantee::regrole::text, x.privilege_type, x.is_grantable, a.attname
    from pg_attribute a cross join aclexplode(a.attacl) x where a.attrelid = ${`sluice.${name}`}::regclass
    order by 1, 2`.execute(db);
  return rows;
}

/** A new role, which is removed after the test. */
async function role({ db }: Warehouse): Promise<string> {
  const name = quoted(`reader ${randomBytes(6).toString('hex')}`);
  await sql.raw(`create role ${name} nologin`).execute(db);
  onTestFinished(async () => {
    await sql.raw(`drop owned by ${name} cascade`).execute(db);
    await sql.raw(`drop role ${name}`).execute(db);
  });
  return name;
}

it('every view comes after the views that it reads', () => {
  const order = viewsByDependency().map(({ name }) => name);
  expect(order.toSorted()).toEqual(views.map(({ name }) => name).toSorted());
  expect(order.indexOf('run_costs')).toBeGreaterThan(order.indexOf('answer_costs'));
});

it('the digest in views-current.ts is that of the declared views', () => {
  expect(VIEWS_DIGEST, 'write the digest to src/warehouse/migrate/views-current.ts').toBe(viewsDigest());
});

eachWarehouse('views', (open, kind) => {
  /** Each test leaves the current schema. */
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });
  afterEach(() => sql`drop view if exists public.mine`.execute(warehouse.db));

  it('stay as they are if their queries are unchanged', async () => {
    const before = await ids(warehouse);
    await migrate(warehouse, 'up');
    expect(await ids(warehouse)).toEqual(before);
  });

  it('are replaced in place if their columns stay, with the rights and views of users on them', async () => {
    const before = await ids(warehouse);
    await sql
      .raw(`create or replace view sluice.dim_plan as
      select 'other'::text as plan, 1::bigint as requests, null::date as first_logged_on, null::date as last_logged_on`)
      .execute(warehouse.db);
    await sql`create view public.mine as select plan from sluice.dim_plan`.execute(warehouse.db);
    await outdate(warehouse, 'dim_plan');
    expect(await migrate(warehouse, 'up')).toEqual([]);
    expect((await sql`select plan from public.mine`.execute(warehouse.db)).rows).toEqual([]);
    expect(await ids(warehouse)).toEqual(before);
    expect(await dumpSchema(warehouse)).toBe(await golden());
  });

  it('are created again with our views on them if their columns change', async () => {
    const before = await ids(warehouse);
    await sql`alter view sluice.logged_requests rename column log_id to old_id`.execute(warehouse.db);
    await sql`create view public.mine as select sync from sluice.sync_runs`.execute(warehouse.db);
    await outdate(warehouse, 'logged_requests');
    await migrate(warehouse, 'up');
    expect(await dumpSchema(warehouse)).toBe(await golden());
    const after = await ids(warehouse);
    expect(after['daily_costs']).not.toBe(before['daily_costs']);
    expect(after['sync_runs']).toBe(before['sync_runs']);
  });

  it('are not changed under a view of a user that depends on a column', async () => {
    await sql`alter view sluice.logged_requests rename column log_id to old_id`.execute(warehouse.db);
    await sql`create view public.mine as select sync from sluice.daily_costs`.execute(warehouse.db);
    await outdate(warehouse, 'logged_requests');
    await expect(migrate(warehouse, 'up')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/view (public\.)?mine depends on view (sluice\.)?daily_costs/),
      next: 'Nothing was changed. Drop your objects, run the migration again, and recreate them.',
    });
    await sql`select old_id from sluice.logged_requests`.execute(warehouse.db);
    await sql`drop view public.mine`.execute(warehouse.db);
    await migrate(warehouse, 'up');
    expect(await dumpSchema(warehouse)).toBe(await golden());
  });

  it('are created again after a user dropped them, and dropped if no longer declared', async () => {
    await sql`drop view sluice.sync_inputs`.execute(warehouse.db);
    await sql`create view sluice.gone as select 1 as one`.execute(warehouse.db);
    await sql`insert into sluice_ops.applied_views values ('gone', 'x')`.execute(warehouse.db);
    await migrate(warehouse, 'up');
    expect(await dumpSchema(warehouse)).toBe(await golden());
  });

  // The steps back are the same statements on both kinds.
  if (kind === 'postgres' || IS_LONG)
    it('remain after a step back as far as their tables and columns exist', async () => {
      // The later migrations drop no table that a view reads.
      for (const name of Object.keys(steps).toReversed())
        if (name > '0009_photoshare') expect(await migrate(warehouse, 'down')).toEqual([name]);
      await sql`alter table sluice_ops.runs drop column tags cascade`.execute(warehouse.db);
      await sql`create view public.mine as select sync from sluice.paid_answers`.execute(warehouse.db);
      await expect(migrate(warehouse, 'down')).rejects.toThrow('view mine depends on view sluice.paid_answers');
      await sql`drop view public.mine`.execute(warehouse.db);
      await migrate(warehouse, 'down');
      const left = Object.keys(await ids(warehouse));
      expect(left).toContain('paid_answers');
      expect(left).not.toContain('sync_runs');
      expect(left).not.toContain('photoshare_user_overview');
      await sql`alter table sluice_ops.runs add column tags jsonb`.execute(warehouse.db);
      await migrate(warehouse, 'up');
      expect(await dumpSchema(warehouse)).toBe(await golden());
    });

  it('of another version make the schema older', async () => {
    await outdate(warehouse, 'sync_runs');
    expect((await migrationStatus(warehouse)).state).toBe('older');
    if (kind === 'embedded') await ensureSchema(warehouse);
    else {
      await expect(ensureSchema(warehouse)).rejects.toMatchObject({
        exitCode: 8,
        message: 'The schema sluice is older than this version of Sluice: it lacks views of this version.',
        next: 'Run sluice migrate.',
      });
      await migrate(warehouse, 'up');
    }
    expect((await migrationStatus(warehouse)).state).toBe('current');
  });

  if (kind === 'postgres')
    it('keep the rights of roles when they are created again', async () => {
      const [reader, other] = [await role(warehouse), await role(warehouse)];
      for (const statement of [
        `alter default privileges in schema sluice grant select on tables to ${other}`,
        `grant select on sluice.daily_costs to ${reader} with grant option`,
        `grant select (sync, points) on sluice.logged_requests to ${reader}`,
        'alter view sluice.logged_requests rename column log_id to old_id',
      ])
        await sql.raw(statement).execute(warehouse.db);
      const names = ['logged_requests', 'daily_costs', 'sync_costs'];
      const before = await Promise.all(names.map((name) => rights(warehouse, name)));
      expect(before.map((it) => it.length)).toEqual([2, 1, 0]);
      await outdate(warehouse, 'logged_requests');
      await migrate(warehouse, 'up');
      expect(await Promise.all(names.map((name) => rights(warehouse, name)))).toEqual(before);
    });
});
