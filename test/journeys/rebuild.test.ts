/** A rebuild among what users made in the same database: it takes nothing from them and blocks no reader. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type QueryExecutorProvider, sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { UsageError } from '../../src/errors.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { allowSilence } from '../../src/warehouse/connect/idle-limit.ts';
import { expireLeases } from '../flow/crash.ts';
import { rowsOf, select, versionsOf } from '../flow/rows.ts';
import { openScene, type Scene, sceneIn, service } from '../flow/scene.ts';
import { builtProgram } from '../support/built.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { anyWarehouse, type Open, postgresWarehouses, realEffects } from '../support/warehouse.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: data engineer, count: 20 }, for_each: { location: [Berlin, Paris] } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  photographers: { endpoint: photoshare.user, request: { user: acme_labs, with_posts: true } }
`;

const ALL = { machinery: true, volatile: true };
const SCHEMAS = `select nspname from pg_namespace where nspname like '%rebuild%' order by 1`;

const lived = async (warehouse: Warehouse): Promise<Scene> => synced(await sceneIn(warehouse));

async function synced(scene: Scene): Promise<Scene> {
  expect((await scene.sync(CONFIG)).exitCode).toBe(0);
  return scene;
}

async function all(warehouse: Warehouse, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(warehouse.db);
}

/** Damage that a rebuild repairs: a changed row, a missing row, and a row that no answer gives. */
const DAMAGE = [
  `update sluice.pronet_groups set name = 'changed by hand' where urn_value = '1001'`,
  `delete from sluice.photoshare_users`,
  `insert into sluice.pronet_groups select (jsonb_populate_record(g, '{"urn_value": "invented"}')).*
    from sluice.pronet_groups g where urn_value = '1002'`,
];

/** A synced warehouse whose rows a rebuild would replace or delete. */
async function damagedScene(open: Open): Promise<Scene> {
  const scene = await synced(await openScene(await open()));
  await all(scene.warehouse, DAMAGE);
  return scene;
}

anyWarehouse('a rebuild among objects of users', (open) => {
  it('keeps added columns, views, triggers, indexes, grants, comments and foreign keys', async () => {
    const scene = await lived(await open());
    const { warehouse } = scene;
    const rows = await rowsOf(warehouse, ALL);
    await all(warehouse, [
      ...DAMAGE,
      'create schema app',
      'alter table sluice.pronet_groups add column owner_note text',
      `update sluice.pronet_groups set owner_note = 'note on ' || urn_value where urn_value <> 'invented'`,
      'create view app.names as select name, owner_note from sluice.pronet_groups',
      'create index by_note on sluice.pronet_groups (owner_note)',
      `comment on column sluice.pronet_groups.owner_note is 'ours'`,
      'create role reader_of_groups',
      'grant select on sluice.pronet_groups to reader_of_groups',
      'create table app.log (what text)',
      `create function app.noted() returns trigger language plpgsql as $$ begin insert into app.log values (tg_op || ' ' || new.urn_value); return new; end $$`,
      'create trigger noted after insert or update on sluice.pronet_groups for each row execute function app.noted()',
      `create table app.favourites (type text, value text, constraint favourite foreign key (type, value) references sluice.pronet_groups on delete cascade)`,
      `insert into app.favourites select urn_type, urn_value from sluice.pronet_groups where urn_value <> 'invented'`,
    ]);
    onTestFinished(async () => {
      if (warehouse.kind === 'postgres')
        await all(warehouse, ['drop owned by reader_of_groups', 'drop role reader_of_groups']);
    });

    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });

    expect(await rowsOf(warehouse, ALL)).toEqual(rows);
    expect(await select(warehouse, 'select owner_note from app.names where owner_note is not null order by 1')).toEqual(
      [{ owner_note: 'note on 1001' }, { owner_note: 'note on 1002' }],
    );
    expect(await select(warehouse, 'select count(*)::int as n from app.favourites')).toEqual([{ n: 2 }]);
    expect(await select(warehouse, 'select what from app.log')).toEqual([{ what: 'UPDATE 1001' }]);
    expect(
      await select(
        warehouse,
        `select has_table_privilege('reader_of_groups', 'sluice.pronet_groups', 'select') as may,
          to_regclass('sluice.by_note') is not null as indexed,
          (select count(*)::int from pg_description where description = 'ours') as comments`,
      ),
    ).toEqual([{ may: true, indexed: true, comments: 1 }]);
  });

  it('keeps a schema that has the name of its work area', async () => {
    const scene = await lived(await open());
    const { warehouse } = scene;
    await all(warehouse, [
      'create schema sluice_rebuild',
      'create table sluice_rebuild.pronet_groups as select 7 as precious',
      `comment on schema sluice_rebuild is 'Work area of sluice replay --rebuild. Sluice removes it.'`,
    ]);

    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });

    expect(await select(warehouse, 'select precious from sluice_rebuild.pronet_groups')).toEqual([{ precious: 7 }]);
    expect(await select(warehouse, SCHEMAS)).toEqual([{ nspname: 'sluice_rebuild' }]);
  });

  describe('with rows that it would delete', () => {
    /** Each test leaves it as it was. */
    let scene: Scene;
    beforeAll(async () => {
      scene = await damagedScene(open);
      return () => scene.sandbox.close();
    });

    it.each([
      [
        'a value in an added column',
        [
          'alter table sluice.pronet_groups add column rating int',
          `update sluice.pronet_groups set rating = 5 where urn_value = 'invented'`,
        ],
        '1 row of sluice.pronet_groups with a value in the added column rating',
        'alter table sluice.pronet_groups drop column rating',
      ],
      [
        'a foreign key with a cascade',
        [
          'create table public.ratings (type text, value text, constraint rated foreign key (type, value) references sluice.pronet_groups on delete cascade)',
          `insert into public.ratings values ('group', 'invented')`,
        ],
        '1 row of ratings that rated ties to sluice.pronet_groups',
        'drop table public.ratings',
      ],
      [
        'a foreign key without one',
        [
          'create schema other',
          'create table other.ratings (type text, value text, foreign key (type, value) references sluice.pronet_groups)',
          `insert into other.ratings values ('group', 'invented')`,
        ],
        '1 row of other.ratings that ratings_type_value_fkey ties to sluice.pronet_groups',
        'drop schema other cascade',
      ],
      [
        'no answer that gave it',
        [`update sluice.pronet_groups set _answer_id = _answer_id + 900 where urn_value = 'invented'`],
        '1 row of sluice.pronet_groups without a stored answer',
        `update sluice.pronet_groups set _answer_id = _answer_id - 900 where urn_value = 'invented'`,
      ],
    ])('refuses by name to delete one with %s, and changes nothing', async (_, made, named, undo) => {
      const { warehouse } = scene;
      await all(warehouse, made);
      const before = await versionsOf(warehouse);

      const refusal = scene.replay({ rebuild: true });

      await expect(refusal).rejects.toThrow(UsageError);
      await expect(refusal).rejects.toThrow(named);
      expect(await versionsOf(warehouse)).toEqual(before);
      expect(await select(warehouse, SCHEMAS)).toEqual([]);
      await all(warehouse, [undo]);
    });

    it('names a constraint of users that its rows break', async () => {
      const { warehouse } = scene;
      await all(warehouse, [
        `alter table sluice.pronet_groups add constraint by_hand check (name = 'changed by hand') not valid`,
      ]);
      const before = await versionsOf(warehouse);
      await expect(scene.replay({ rebuild: true })).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('by_hand'),
      });
      expect(await versionsOf(warehouse)).toEqual(before);
    });
  });

  it('names a table that lacks a column before it does anything', async () => {
    const scene = await lived(await open());
    await all(scene.warehouse, ['alter table sluice.pronet_groups drop column image']);
    await expect(scene.replay({ rebuild: true })).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('pronet_groups'),
    });
  });
});

const open = postgresWarehouses();

/** Work in a transaction of another program, which may stay silent for long, and is undone afterwards. */
async function beside<T>(warehouse: Warehouse, statement: string, work: () => Promise<T>): Promise<T> {
  let result: { readonly of: T } | undefined;
  await warehouse.db
    .transaction()
    .execute(async (tx: QueryExecutorProvider) => {
      await allowSilence(tx);
      await sql.raw(statement).execute(tx);
      result = { of: await work() };
      throw new Error('undo');
    })
    .catch((error: unknown) => {
      if (!(error instanceof Error && error.message === 'undo')) throw error;
    });
  if (!result) throw new Error('nothing was done');
  return result.of;
}

describe('a rebuild beside transactions', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await damagedScene(open);
    return () => scene.sandbox.close();
  });

  it('that cannot lock its tables ends with 5, and no reader waits behind it', async () => {
    const { warehouse } = scene;
    const before = await versionsOf(warehouse);
    const slept = scene.clock.now().getTime();
    const refused = beside(warehouse, `lock table sluice.pronet_groups in row exclusive mode`, async () => {
      const rebuild = scene.replay({ rebuild: true }).catch((error: unknown) => error);
      const waiting = `select query_start::text as since from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      const state = { ended: false };
      void rebuild.then(() => (state.ended = true));
      const answered = new Set<string>();
      while (!state.ended) {
        const attempt = await vi.waitFor(async () => {
          const [row] = await select<{ since: string }>(warehouse, waiting);
          if (!state.ended && (!row || answered.has(row.since))) throw new Error('no other attempt yet');
          return row?.since;
        }, 10_000);
        if (attempt === undefined) continue;
        // A reader that had to wait would end by its own limit.
        await warehouse.db.transaction().execute(async (tx) => {
          await sql`set local lock_timeout = 200`.execute(tx);
          await sql`select count(*) from sluice.pronet_groups`.execute(tx);
        });
        answered.add(attempt);
      }
      expect(answered.size).toBeGreaterThan(1);
      return rebuild;
    });
    expect(await refused).toMatchObject({ exitCode: 5, message: expect.stringContaining('could not lock its tables') });
    expect(scene.clock.now().getTime()).toBeGreaterThan(slept);
    expect(await versionsOf(warehouse)).toEqual(before);
    expect(await select(warehouse, SCHEMAS)).toEqual([]);
  });

  it('waits for no reader', async () => {
    const reading = 'select count(*) from sluice.pronet_groups, sluice.pronet_users, sluice.photoshare_users';
    const work = (): ReturnType<Scene['replay']> => scene.replay({ rebuild: true });
    expect(await beside(scene.warehouse, reading, work)).toMatchObject({ exitCode: 0 });
  });
});

const built = await builtProgram();

it('a killed rebuild leaves the tables complete, and the next one removes only what is its own', async () => {
  const database = await freshDatabase(await postgresTemplate());
  const warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close().then(() => database.drop()));
  const scene = await lived(warehouse);
  const rows = await rowsOf(warehouse, ALL);
  const killed = async (statement: string, nth = 1): Promise<void> => {
    const child = fork(built.pathOf('test/journeys/killed-rebuild.ts'), [database.url, statement, String(nth)], {
      execArgv: [],
      env: built.env,
    });
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
    await expireLeases(warehouse);
  };

  await killed('^insert into "sluice_rebuild');
  expect(await rowsOf(warehouse, ALL)).toEqual(rows);
  expect(await select(warehouse, SCHEMAS)).toEqual([{ nspname: 'sluice_rebuild' }]);
  await all(warehouse, DAMAGE);
  const damaged = await rowsOf(warehouse, ALL);
  await killed('^update only');
  expect(await rowsOf(warehouse, ALL)).toEqual(damaged);
  // A user works with what was left: that is the user's from now on.
  await all(warehouse, ['create view public.mine as select * from sluice_rebuild.pronet_groups']);
  await killed('^drop table', 2);
  expect(await rowsOf(warehouse, ALL)).toEqual(rows);
  expect(await select(warehouse, SCHEMAS)).toEqual([{ nspname: 'sluice_rebuild' }, { nspname: 'sluice_rebuild_2' }]);

  expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });

  expect(await select(warehouse, SCHEMAS)).toEqual([{ nspname: 'sluice_rebuild' }]);
  expect(await select(warehouse, 'select count(*)::int as n from public.mine')).toEqual([{ n: 2 }]);
  await all(warehouse, ['drop view public.mine']);
  expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
  expect(await select(warehouse, SCHEMAS)).toEqual([]);
  expect(await select(warehouse, 'select id from sluice_ops.rebuilds')).toEqual([]);
  expect(await rowsOf(warehouse, ALL)).toEqual(rows);
});
