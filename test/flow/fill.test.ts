/** Columns that a migration added are filled from what rows kept in `extra`, and no row counts as changed by that. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { fillColumns } from '../../src/flow/fill/fill-columns.ts';
import { HeldError } from '../../src/errors.ts';
import { acquireLease, syncLease } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { recordingChangedColumns } from '../../src/warehouse/migrate/changed-columns.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { disturbedAt, dyingAt, expireLeases } from './crash.ts';
import { rowsOf, select, versionsOf } from './rows.ts';
import { type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: data engineer, count: 20 } }
  schools: { endpoint: pronet.user.education, after: [people], request: { count: 20 }, for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users order by 2 limit 5" } } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  photographers: { endpoint: photoshare.user, request: { user: acme_labs, with_posts: true } }
`;
const ALL = { machinery: true, volatile: true };

/** Columns with the path of their values in `extra`: flat, inside an object, in a list, of two columns. */
const ADDED = [
  { table: 'pronet_users', column: 'headline', path: ['headline'] },
  { table: 'pronet_users', column: 'open_to_work', path: ['open_to_work'] },
  { table: 'pronet_user_educations', column: 'company_employee_range', path: ['company', 'employee_range'] },
  { table: 'pronet_group_members', column: 'user_headline', path: ['user', 'headline'] },
  { table: 'photoshare_posts', column: 'created_at_epoch', path: ['created_at'] },
  { table: 'photoshare_users', column: 'location_latitude', path: ['location', 'latitude'] },
] as const;

const object = (path: readonly string[], value: string): string =>
  path.toReversed().reduce((inner, name) => `jsonb_build_object('${name}', ${inner})`, value);

/**
 * Leaves the warehouse as a version without these columns would have: the values in `extra`, digests without them, and a
 * migration that has added them since.
 */
async function beforeTheColumns({ db }: Warehouse): Promise<void> {
  for (const { table, column, path } of ADDED) {
    await sql
      .raw(
        `update sluice.${table} set extra = coalesce(extra, '{}') || ${object(path, `to_jsonb(${column})`)}, ${column} = null where ${column} is not null`,
      )
      .execute(db);
    await sql`insert into sluice_ops.changed_columns values (${table}, ${column})`.execute(db);
  }
  await sql`update sluice.photoshare_posts set created_at = null`.execute(db);
  await sql`insert into sluice_ops.changed_columns values ('photoshare_posts', 'created_at')`.execute(db);
  for (const table of [
    'pronet_users',
    'pronet_user_educations',
    'pronet_groups',
    'photoshare_posts',
    'photoshare_users',
  ])
    await sql
      .raw(
        `update sluice.${table} set _content_hash = 'old', _part_hashes = regexp_replace(_part_hashes, '[A-Za-z0-9_-]{22}', 'old', 'g')`,
      )
      .execute(db);
}

async function lived(scene: Scene): Promise<Scene> {
  expect((await scene.sync(CONFIG)).exitCode).toBe(0);
  scene.clock.advance(DAY_MS);
  scene.arrived();
  return scene;
}

const pending = (warehouse: Warehouse) => select(warehouse, 'select * from sluice_ops.changed_columns');

anyWarehouse('columns that a migration added', (open) => {
  it('are filled by a replay without a request, and rows, times and logs are as if they had always existed', async () => {
    const scene = await lived(await sceneIn(await open()));
    const before = await rowsOf(scene.warehouse, ALL);
    await beforeTheColumns(scene.warehouse);
    expect(await rowsOf(scene.warehouse, ALL)).not.toEqual(before);

    const summary = await scene.replay();

    expect(await rowsOf(scene.warehouse, ALL)).toEqual(before);
    expect(summary).toMatchObject({ exitCode: 0, loaded: 0, written: {} });
    for (const { table, column } of ADDED)
      expect(summary.filled.find((it) => it.table === table && it.column === column)?.rows).toBeGreaterThan(0);
    expect(scene.arrived()).toEqual([]);
    expect(await pending(scene.warehouse)).toEqual([]);
    const versions = await versionsOf(scene.warehouse);
    expect(await scene.replay()).toMatchObject({ filled: [], loaded: 0 });
    expect(await versionsOf(scene.warehouse)).toEqual(versions);
  });
});

anyWarehouse('new columns', (open) => {
  it('are filled where the bodies of the answers are gone', async () => {
    const scene = await lived(await sceneIn(await open()));
    const before = await rowsOf(scene.warehouse, ALL);
    await beforeTheColumns(scene.warehouse);
    await select(scene.warehouse, 'update sluice_ops.answers set body = null');
    expect(await scene.replay()).toMatchObject({ answers: 0 });
    expect(await rowsOf(scene.warehouse, ALL)).toEqual(before);
  });

  it('are filled by a sync before it loads anything, so that no row counts as changed', async () => {
    const scene = await lived(await sceneIn(await open()));
    const other = await lived(await sceneIn(await open()));
    await beforeTheColumns(scene.warehouse);
    // A process has a warehouse of its own.
    await scene.sync(CONFIG, { warehouse: { ...scene.warehouse } });
    await other.sync(CONFIG);
    expect(await rowsOf(scene.warehouse, ALL)).toEqual(await rowsOf(other.warehouse, ALL));
    expect(await pending(scene.warehouse)).toEqual([]);
  });

  it('leave values that do not fit in extra', async () => {
    const scene = await lived(await sceneIn(await open()));
    await beforeTheColumns(scene.warehouse);
    const where = `from sluice.pronet_users where urn_value = (select min(urn_value) from sluice.pronet_users)`;
    const [{ urn_value: urn } = { urn_value: '' }] = await select<{ urn_value: string }>(
      scene.warehouse,
      `select urn_value ${where}`,
    );
    await select(
      scene.warehouse,
      `update sluice.pronet_users set extra = '{"headline": ["a"], "open_to_work": "perhaps", "other": 1, "location": null}' where urn_value = '${urn}'`,
    );
    await select(scene.warehouse, 'update sluice_ops.answers set body = null');
    await scene.replay();
    expect(
      await select(
        scene.warehouse,
        `select headline, open_to_work, extra from sluice.pronet_users where urn_value = '${urn}'`,
      ),
    ).toEqual([
      {
        headline: null,
        open_to_work: null,
        extra: { headline: ['a'], open_to_work: 'perhaps', other: 1, location: null },
      },
    ]);
  });

  it('are filled by the next sync if a signal ends the first one, which sends nothing', async () => {
    const scene = await lived(await sceneIn(await open()));
    const other = await lived(await sceneIn(await open()));
    await beforeTheColumns(scene.warehouse);
    const stop = new AbortController();
    const point = { when: 'after', statement: /^update "sluice"."pronet_users"/, nth: 1 } as const;
    const warehouse = disturbedAt(scene.warehouse, point, () => stop.abort());
    const summary = await scene.sync(CONFIG, { warehouse, signal: stop.signal });
    expect(summary.syncs.map(({ state, error }) => `${state}: ${error}`)).toEqual(
      Array(4).fill('interrupted: not started: stopped by a signal'),
    );
    expect(scene.arrived()).toEqual([]);
    const left = (await pending(scene.warehouse)).map((it) => it['table_name']);
    expect(left).toContain('pronet_group_members');

    // The process that was stopped can go on, and so can another.
    await scene.sync(CONFIG, { warehouse });
    await other.sync(CONFIG);
    expect(await pending(scene.warehouse)).toEqual([]);
    expect(await rowsOf(scene.warehouse, ALL)).toEqual(await rowsOf(other.warehouse, ALL));
  });

  it('are filled by the next replay if a signal ends the first one', async () => {
    const scene = await lived(await sceneIn(await open()));
    const before = await rowsOf(scene.warehouse, ALL);
    await beforeTheColumns(scene.warehouse);
    const stop = new AbortController();
    const point = { when: 'after', statement: /^update "sluice"."pronet_users"/, nth: 1 } as const;
    const warehouse = disturbedAt(scene.warehouse, point, () => stop.abort());
    expect(await scene.replay({}, stop.signal, undefined, warehouse)).toMatchObject({ answers: 0, exitCode: 5 });
    expect((await pending(scene.warehouse)).map((it) => it['table_name'])).toContain('pronet_group_members');
    expect(await scene.replay()).toMatchObject({ exitCode: 0, loaded: 0, written: {} });
    expect(await rowsOf(scene.warehouse, ALL)).toEqual(before);
  });

  it('stay recorded if a migration adds them while others of the table are filled', async () => {
    const scene = await lived(await sceneIn(await open()));
    await beforeTheColumns(scene.warehouse);
    const later = { table_name: 'pronet_users', column_name: 'later' };
    const point = { when: 'before', statement: /^delete from "sluice_ops"."changed_columns"/, nth: 1 } as const;
    const warehouse = disturbedAt(scene.warehouse, point, () =>
      select(scene.warehouse, "insert into sluice_ops.changed_columns values ('pronet_users', 'later')"),
    );
    await fillColumns(warehouse, { sleep: scene.clock.sleep, random: () => 0.5 });
    expect(await pending(scene.warehouse)).toEqual([later]);
  });

  it.each([false, true])('are not filled while a sync or an erasure has the leases, rebuild: %s', async (rebuild) => {
    const scene = await lived(await sceneIn(await open()));
    await beforeTheColumns(scene.warehouse);
    const before = await pending(scene.warehouse);
    await acquireLease(operationsOf(scene.warehouse), syncLease('groups'), 'forget', false);
    await expect(scene.replay({ rebuild })).rejects.toThrow(HeldError);
    expect(await pending(scene.warehouse)).toEqual(before);
  });

  it('are filled by the next load if the first one dies', async () => {
    const scene = await lived(await sceneIn(await open()));
    const before = await rowsOf(scene.warehouse, ALL);
    await beforeTheColumns(scene.warehouse);
    const point = { when: 'before', statement: /^update "sluice"."pronet_group_members"/, nth: 1 } as const;
    const dying = dyingAt(scene.warehouse, point);
    await expect(scene.replay({}, undefined, undefined, dying.warehouse)).rejects.toThrow(/^died/);
    expect(await pending(scene.warehouse)).not.toEqual([]);
    await expireLeases(scene.warehouse);
    await scene.replay();
    expect(await rowsOf(scene.warehouse, ALL)).toEqual(before);
  });
});

anyWarehouse('a migration', (open) => {
  it('records the columns that it adds to, or removes from, tables with rows', async () => {
    const { warehouse, sync } = await sceneIn(await open());
    const change = (statement: string) =>
      recordingChangedColumns(warehouse.db, warehouse, () => sql.raw(statement).execute(warehouse.db));
    await change('alter table sluice.pronet_group_members add column early text');
    expect(await pending(warehouse)).toEqual([]);
    await sync(CONFIG);
    await change('alter table sluice.pronet_group_members drop column early');
    await change('alter table sluice.pronet_users add column follower_count bigint, add column _at timestamptz');
    await change('alter table sluice.microblog_users add column late text');
    expect(await pending(warehouse)).toEqual([
      { table_name: 'pronet_group_members', column_name: 'early' },
      { table_name: 'pronet_users', column_name: 'follower_count' },
    ]);
    // The digests are renewed, although this version declares neither column.
    await select(warehouse, "update sluice.pronet_users set _part_hashes = 'old'");
    expect((await sync(CONFIG, { warehouse: { ...warehouse } })).exitCode).toBe(0);
    expect(await pending(warehouse)).toEqual([]);
    expect(
      await select(warehouse, "select count(*)::int as n from sluice.pronet_users where _part_hashes = 'old'"),
    ).toEqual([{ n: 0 }]);
  });
});
