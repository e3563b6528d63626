/** `replay --as-of`: tables of an earlier time are those that the warehouse had then, and the present ones do not change. */
import { expect, it } from 'vitest';
import { asOfSchemas, dropAsOfSchema } from '../../src/flow/as-of/schema.ts';
import { loadAsOf } from '../../src/flow/as-of/load-as-of.ts';
import { forget } from '../../src/flow/erasure/forget.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { disturbedAt } from './crash.ts';
import { rowsOf, select, versionsOf } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

/** On the first day one sync less, whose requests stored answers of the others serve later. */
const config = (more: string): string => `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: data engineer, count: 20 }, for_each: { location: [Berlin, Paris] }, max_age: 36h }
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  photographers: { endpoint: photoshare.user, request: { user: acme_labs, with_posts: true } }
  costs: { endpoint: token.requests, after: [groups, photographers, people] }
${more}`;
const LATER =
  '  same_people: { endpoint: pronet.search.users, request: { title: data engineer, location: [Berlin], count: 20 }, after: [people], max_age: 36h }\n';

const ALL = { machinery: true, volatile: true };
const effects = ({ clock }: Scene) => ({
  now: clock.now,
  sleep: clock.sleep,
  random: () => 0.5,
  newId: () => crypto.randomUUID(),
  onProgress: () => undefined,
});
const asOf = (
  scene: Scene,
  at: Date,
  schema: string,
  signal = new AbortController().signal,
  warehouse = scene.warehouse,
) => loadAsOf(warehouse, { asOf: at, schema }, effects(scene), signal);
const schemas = (scene: Scene): Promise<readonly string[]> => asOfSchemas(scene.warehouse);

async function lived(scene: Scene, days: number) {
  const known: { readonly at: Date; readonly rows: Awaited<ReturnType<typeof rowsOf>> }[] = [];
  for (let day = 0; day < days; day += 1) {
    expect((await scene.sync(config(day === 0 ? '' : LATER))).exitCode).toBe(0);
    known.push({ at: scene.clock.now(), rows: await rowsOf(scene.warehouse, ALL) });
    scene.clock.advance(DAY_MS);
  }
  return known;
}

anyWarehouse('the tables as of an earlier time', (open) => {
  it('need a free name, and leave nothing behind if a signal ends the command', async () => {
    const scene = await sceneIn(await open());
    const [day] = await lived(scene, 1);
    if (!day) throw new Error('nothing was known');
    await asOf(scene, day.at, 'march');
    await expect(asOf(scene, day.at, 'march')).rejects.toMatchObject({
      message: 'replay: the schema march exists',
      next: 'Drop it with sluice replay --drop march, or choose another name with --schema.',
    });
    await expect(asOf(scene, day.at, 'sluice')).rejects.toMatchObject({ next: 'Choose another name with --schema.' });
    await expect(asOf(scene, day.at, 'No; drop')).rejects.toThrow('--schema is "No; drop"');
    expect(await asOf(scene, day.at, 'stopped', AbortSignal.abort())).toMatchObject({ answers: 0 });
    expect(await schemas(scene)).toEqual(['march']);
    expect(await rowsOf({ ...scene.warehouse, schema: 'march' }, ALL)).toEqual(day.rows);
  });

  it('have no rows of a sync that an answer came to serve later', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await open(), {
      respond: ({ number }) => {
        if (number === 1) stop.abort();
        return undefined;
      },
    });
    const search = 'endpoint: pronet.search.users, request: { title: data engineer, count: 20 }, max_age: 7d';
    const yaml = `${service()}
syncs:
  first: { ${search}, for_each: { location: [Berlin] } }
  both: { ${search}, for_each: { location: [Paris, Berlin] } }
`;
    await scene.sync(yaml, { names: ['both'], signal: stop.signal });
    expect((await scene.sync(yaml, { names: ['first'] })).exitCode).toBe(0);
    const [at, rows] = [scene.clock.now(), await rowsOf(scene.warehouse, ALL)];
    scene.clock.advance(HOUR_MS);
    expect(only(await scene.sync(yaml, { names: ['both'] }))).toMatchObject({ continued: true, exitCode: 0 });
    expect(await rowsOf(scene.warehouse, ALL)).not.toEqual(rows);

    await asOf(scene, at, 'before');
    expect(await rowsOf({ ...scene.warehouse, schema: 'before' }, ALL)).toEqual(rows);
  });

  it('are those that the warehouse had then, table by table, and the present ones stay as they are', async () => {
    const scene = await sceneIn(await open());
    const known = await lived(scene, 3);
    const [first, second] = known;
    expect(first?.rows).not.toEqual(second?.rows);
    const versions = await versionsOf(scene.warehouse);
    scene.arrived();
    for (const [day, { at, rows }] of known.entries()) {
      const schema = `day_${day}`;
      expect(await asOf(scene, at, schema)).toMatchObject({ left: 0, schema });
      expect(await rowsOf({ ...scene.warehouse, schema }, ALL), schema).toEqual(rows);
    }
    expect(await versionsOf(scene.warehouse)).toEqual(versions);
    expect(scene.arrived()).toEqual([]);
    expect(await schemas(scene)).toEqual(['day_0', 'day_1', 'day_2']);
    // A sync and a rebuild go on as before.
    await scene.sync(config(LATER));
    expect((await scene.replay({ rebuild: true })).exitCode).toBe(0);
    expect(await dropAsOfSchema(scene.warehouse, 'day_1')).toBe(true);
    expect(await schemas(scene)).toEqual(['day_0', 'day_2']);
  });

  it('have no rows of log reads from a time when no sync read the log', async () => {
    const scene = await sceneIn(await open());
    const groups = '{ endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }';
    await scene.sync(`${service()}\nbudget: { per_run: 100 }\nsyncs: { groups: ${groups} }\n`);
    const at = scene.clock.now();
    scene.clock.advance(DAY_MS);
    await scene.sync(`${service()}\nsyncs: { costs: { endpoint: token.requests } }\n`);

    expect(await asOf(scene, at, 'march')).toMatchObject({ left: 0, answers: 2 });
    expect(await select(scene.warehouse, 'select id from march.fact_request_costs')).toEqual([]);
    await asOf(scene, scene.clock.now(), 'later');
    expect(await select(scene.warehouse, 'select id from later.fact_request_costs')).not.toEqual([]);
  });

  it('are not loaded from pruned answers, and no schema of users is dropped', async () => {
    const scene = await sceneIn(await open());
    const [first, second] = await lived(scene, 2);
    if (!first || !second) throw new Error('nothing was known');
    await select(
      scene.warehouse,
      `update sluice_ops.answers set body = null, pruned_at = now() where received_at > '${first.at.toISOString()}' and endpoint = 'pronet.group'`,
    );
    await expect(asOf(scene, second.at, 'later')).rejects.toThrow('would lack rows: the bodies of 2 stored answers');
    expect(await asOf(scene, first.at, 'earlier')).toMatchObject({ left: 0 });
    await select(scene.warehouse, 'create view earlier.mine as select count(*) from earlier.pronet_groups');
    expect(await dropAsOfSchema(scene.warehouse, 'earlier')).toBe(false);
    await select(scene.warehouse, 'drop view earlier.mine');
    await select(scene.warehouse, 'create schema mine');
    expect(await dropAsOfSchema(scene.warehouse, 'mine')).toBe(false);
    expect(await select(scene.warehouse, "select nspname from pg_namespace where nspname = 'mine'")).toHaveLength(1);
    expect(await schemas(scene)).toEqual(['earlier']);
  });

  it('are not created if a retention removes answers before they are listed', async () => {
    const scene = await sceneIn(await open());
    const [day] = await lived(scene, 1);
    if (!day) throw new Error('nothing was known');
    const pruned = disturbedAt(scene.warehouse, { when: 'before', statement: /select distinct on/, nth: 1 }, () =>
      select(
        scene.warehouse,
        "update sluice_ops.answers set body = null, pruned_at = now() where endpoint = 'pronet.group'",
      ),
    );
    await expect(asOf(scene, day.at, 'march', undefined, pruned)).rejects.toThrow('the bodies of 2 stored answers');
    expect(await schemas(scene)).toEqual([]);
  });

  it('are dropped with the rows of a forgotten person, and stay if nothing is removed', async () => {
    const scene = await sceneIn(await open());
    const [day] = await lived(scene, 1);
    if (!day) throw new Error('nothing was known');
    await asOf(scene, day.at, 'march');
    const [person] = await select<{ readonly t: string; readonly v: string }>(
      scene.warehouse,
      'select urn_type as t, urn_value as v from sluice.pronet_users order by 2 limit 1',
    );
    if (!person) throw new Error('nobody was found');
    const options = { table: 'pronet_users', mayReturn: false };
    const run = (dryRun: boolean, value = person.v) =>
      forget(
        scene.warehouse,
        { ...options, key: [person.t, value], dryRun },
        effects(scene),
        new AbortController().signal,
      );
    await run(true);
    expect(await schemas(scene)).toEqual(['march']);
    expect(await run(false, 'nobody')).toMatchObject({ found: false });
    expect(await schemas(scene)).toEqual(['march']);
    await select(
      scene.warehouse,
      'create table public.notes (t text, v text, foreign key (t, v) references sluice.pronet_users (urn_type, urn_value))',
    );
    await select(scene.warehouse, `insert into public.notes values ('${person.t}', '${person.v}')`);
    await expect(run(false)).rejects.toMatchObject({ next: expect.stringContaining('Nothing was removed') });
    await select(scene.warehouse, 'drop table public.notes');
    await select(scene.warehouse, 'create view march.mine as select count(*) from march.pronet_users');
    await expect(run(false)).rejects.toMatchObject({
      message: 'forget: march holds rows as of an earlier time and is in use.',
      next: expect.stringContaining('Nothing was removed'),
    });
    await select(scene.warehouse, 'drop view march.mine');
    expect(await schemas(scene)).toEqual(['march']);
    expect(await run(false)).toMatchObject({ found: true, wasForgotten: false });
    expect(await schemas(scene)).toEqual([]);
    expect(await asOf(scene, day.at, 'march')).toMatchObject({ left: 0 });
    expect(await select(scene.warehouse, `select from march.pronet_users where urn_value = '${person.v}'`)).toEqual([]);
  });
});
