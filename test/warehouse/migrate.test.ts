import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { SchemaError, UsageError } from '../../src/errors.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { refuseDataLoss } from '../../src/warehouse/migrate/data-loss.ts';
import { toMigrationError } from '../../src/warehouse/migrate/errors.ts';
import { ensureSchema, migrate, migrationStatus } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { freshDatabase } from '../support/database.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { IS_LONG } from '../support/long.ts';
import { eachWarehouse, realEffects } from '../support/warehouse.ts';

const names = Object.keys(steps).toSorted();

eachWarehouse('migrations', (open, kind) => {
  /** Every step down is taken on one kind: its statements are those of both. */
  const isFull = kind === 'postgres' || IS_LONG;
  /** Each test leaves it as it was, up to the one that reverts a migration. */
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  it('go up, down and up again in a schema of any name, and refuse a step down over rows and what users made', {
    timeout: 240_000,
  }, async () => {
    const odd = await open({ migrated: false, schema: 'My "odd" schema' });
    const { db, schema, ops } = odd;
    const applied = async () =>
      (await migrationStatus(odd)).steps.filter(({ appliedAt }) => appliedAt !== null).map(({ name }) => name);
    const stepDownTo = async (number: string): Promise<void> => {
      for (const name of (await applied()).filter((it) => it > number).toReversed())
        expect(await migrate(odd, 'down')).toEqual([name]);
    };
    expect((await migrationStatus(odd)).state).toBe('empty');
    expect(await migrate(odd, 'up')).toEqual(names);
    expect(await migrate(odd, 'up')).toEqual([]);
    expect((await sql`select * from "My ""odd"" schema".sync_inputs`.execute(db)).rows).toEqual([]);
    expect(await db.withSchema(ops).selectFrom('runs').selectAll().execute()).toEqual([]);
    if (!isFull) {
      await stepDownTo(names.at(-3) ?? '');
      expect((await migrationStatus(odd)).state).toBe('older');
      expect(await migrate(odd, 'up')).toEqual(names.slice(-2));
      return;
    }

    const industries = sql.id(schema, 'pronet_industries');
    await sql`insert into ${industries} (urn_type, urn_value, _detail, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      values ('industry', '1', 'full', now(), now(), 1, 1, 'x', '{}')`.execute(db);
    await stepDownTo('0006');
    const refusal = migrate(odd, 'down');
    await expect(refusal).rejects.toThrow(UsageError);
    await expect(refusal).rejects.toThrow('Reverting the last migration would delete the data in pronet_industries.');
    expect((await sql`select urn_value from ${industries}`.execute(db)).rows).toEqual([{ urn_value: '1' }]);
    expect(await applied()).toEqual(names.filter((name) => name < '0006'));
    await sql`delete from ${industries}`.execute(db);

    await stepDownTo('0003');
    await sql`create view public.lost as select lost_invocations from ${sql.id(ops, 'lost_answers')}`.execute(db);
    await expect(migrate(odd, 'down')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('lost depends on'),
    });
    await sql`select * from public.lost`.execute(db);
    await sql`drop view public.lost`.execute(db);

    await stepDownTo('');
    expect((await migrationStatus(odd)).state).toBe('empty');
    expect(await migrate(odd, 'down')).toEqual([]);
    expect(await migrate(odd, 'up')).toEqual(names);
    expect(await migrationStatus(odd)).toEqual({
      state: 'current',
      unknown: [],
      steps: names.map((name) => ({ name, appliedAt: expect.any(Date) })),
    });
  });

  it('are not reverted if the earlier schema does not allow the rows, and the error names them', async () => {
    const logged = await open();
    const request = { urn: { type: 'fsd_profile', value: 'p' }, count: 9 };
    for (const [index, items] of [[{ major: 'Law' }], []].entries())
      await loadBatch(logged, batchOf('pronet.user.education', request, items), index + 1);
    const back = sql`alter table sluice.pronet_user_education_changes add foreign key
      (education_user_urn_type, education_user_urn_value, education_position) references sluice.pronet_user_educations`;
    const attempt = () =>
      logged.db.transaction().execute((trx) => refuseDataLoss(trx, logged, () => back.execute(trx)));

    await expect(attempt()).rejects.toMatchObject({
      exitCode: 2,
      message:
        'Reverting the last migration would delete rows of pronet_user_education_changes that refer to no row of pronet_user_educations, which the earlier schema does not allow.',
      next: expect.stringContaining(
        'Nothing was changed. If you want that, back up the warehouse and delete these rows first.',
      ),
    });
    const log = sql`delete from sluice.pronet_user_education_changes`;
    expect((await log.execute(logged.db)).numAffectedRows).toBeGreaterThan(0n);
    await attempt();
  });

  it('are applied although later ones are, as in a checkout with migrations of its own', async () => {
    const other = await open();
    const [earlier = '', later = ''] = names.slice(-2);
    await migrate(other, 'down');
    await migrate(other, 'down');
    const step = await steps[later]?.();
    await other.db.transaction().execute(async (trx) => {
      await sql`set local search_path to ${sql.id(step?.schema === 'operations' ? 'sluice_ops' : 'sluice')}`.execute(
        trx,
      );
      await step?.up(trx as unknown as Kysely<unknown>);
      await sql`insert into sluice_ops.kysely_migration values (${later}, ${new Date().toISOString()})`.execute(trx);
    });
    expect(await migrate(other, 'up')).toEqual([earlier]);
    expect((await migrationStatus(other)).state).toBe('current');
  });

  if (kind === 'postgres')
    it('let readers through while they wait for a view', async () => {
      await sql`update sluice_ops.applied_views set checksum = 'other' where name = 'sync_runs'`.execute(warehouse.db);
      let done: Promise<string[]> | undefined;
      await warehouse.db.transaction().execute(async (tx) => {
        await sql`select from sluice.sync_runs`.execute(tx);
        done = migrate(warehouse, 'up');
        const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        while ((await waiting.execute(warehouse.db)).rows.length === 0);
        await warehouse.db.transaction().execute(async (reader) => {
          await sql`set local lock_timeout = 3000`.execute(reader);
          await sql`select from sluice.sync_runs`.execute(reader);
        });
      });
      expect(await done).toEqual([]);
      expect((await migrationStatus(warehouse)).state).toBe('current');
    });

  it('refuse a schema that a newer version migrated', async () => {
    await sql`insert into sluice_ops.kysely_migration values ('9999_later', '2100-01-01T00:00:00.000Z')`.execute(
      warehouse.db,
    );
    expect(await migrationStatus(warehouse)).toMatchObject({ state: 'newer', unknown: ['9999_later'] });
    const attempts = [ensureSchema, (it: Warehouse) => migrate(it, 'up'), (it: Warehouse) => migrate(it, 'down')];
    for (const attempt of attempts) {
      await expect(attempt(warehouse)).rejects.toThrow(SchemaError);
      await expect(attempt(warehouse)).rejects.toThrow(
        'The schema sluice is newer than this version of Sluice: it has the migrations 9999_later.',
      );
    }
    await sql`delete from sluice_ops.kysely_migration where name = '9999_later'`.execute(warehouse.db);
    expect((await migrationStatus(warehouse)).state).toBe('current');
  });

  it(
    kind === 'embedded' ? 'bring an older schema up by themselves' : 'are left to a person on an older schema',
    async () => {
      await migrate(warehouse, 'down');
      const last = names.at(-1) ?? '';
      if (kind === 'embedded') {
        await ensureSchema(warehouse);
        expect((await migrationStatus(warehouse)).state).toBe('current');
      } else {
        await expect(ensureSchema(warehouse)).rejects.toMatchObject({
          exitCode: 8,
          message: `The schema sluice is older than this version of Sluice: it lacks the migrations ${last}.`,
          next: 'Run sluice migrate.',
        });
      }
    },
  );

  it('name what prevents them', async () => {
    const empty = await open({ migrated: false });
    await sql`create schema sluice_ops`.execute(empty.db);
    await sql`create table sluice_ops.runs (id int)`.execute(empty.db);
    await expect(ensureSchema(empty)).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('"runs" already exists'),
    });
    const { rows } = await sql`select from pg_namespace where nspname = 'sluice'`.execute(empty.db);
    expect(rows).toEqual([]);
  });

  it('name a column or a relation of the user that has a name which they need', async () => {
    const own = await open();
    const { db } = own;
    const refusal = (message: string) => ({
      exitCode: 8,
      message: `An object of yours has a name that Sluice needs: ${message}.`,
      next: 'Nothing was changed. Rename or drop your object, then run the migration again.',
    });
    for (const kindOfRelation of ['table', 'materialized view']) {
      await sql`drop view sluice.sync_quality`.execute(db);
      await sql`create ${sql.raw(kindOfRelation)} sluice.sync_quality as select 1 as one`.execute(db);
      await sql`delete from sluice_ops.applied_views where name = 'sync_quality'`.execute(db);
      await expect(migrate(own, 'up')).rejects.toMatchObject(refusal('"sync_quality" is not a view'));
      await sql`drop ${sql.raw(kindOfRelation)} sluice.sync_quality`.execute(db);
      expect(await migrate(own, 'up')).toEqual([]);
    }

    const column = sql`alter table sluice_ops.drift add column answers text`
      .execute(db)
      .catch((error: unknown) => error);
    expect(toMigrationError(await column, own)).toMatchObject(
      refusal('column "answers" of relation "drift" already exists'),
    );
  });
});

describe('twenty migrators at once', () => {
  const closing: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closing) await close();
  });

  it('do the work once, and all end well', async () => {
    const database = await freshDatabase();
    closing.push(() => database.drop());
    const open = () => openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
    const warehouses = await Promise.all(Array.from({ length: 20 }, open));
    closing.unshift(...warehouses.map((it) => () => it.close()));
    const done = await Promise.all(warehouses.map((it) => migrate(it, 'up')));
    expect(done.filter((it) => it.length > 0)).toEqual([names]);
    const { rows } = await sql`select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(warehouses[0]!.db);
    expect(rows).toEqual([]);
  });
});
