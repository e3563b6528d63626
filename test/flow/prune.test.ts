/** Retention: old bodies go, what accounts for them stays, and nothing that is still needed is touched. */
import { expect, it } from 'vitest';
import { prune, type PruneOptions, type PruneSummary } from '../../src/flow/retention/prune.ts';
import { UsageError } from '../../src/errors.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { rowsOf, select } from './rows.ts';
import { configOf, type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] }, max_age: 40d }
  photos: { endpoint: photoshare.user.posts, for_each: { user: [acme_labs] }, request: { count: 12 } }
  profiles: { endpoint: microblog.user, for_each: { user: [acme_labs] } }
  same_profiles: { endpoint: microblog.user, for_each: { user: [acme_labs] }, max_age: 1d, after: [profiles] }
  costs: { endpoint: token.requests, after: [groups, photos, same_profiles] }
`;

const pruneIn = async (scene: Scene, options: Partial<PruneOptions> = {}): Promise<PruneSummary> =>
  prune(
    scene.warehouse,
    (await configOf(CONFIG, scene.sandbox.url)).syncs,
    { olderThanMs: 30 * DAY_MS, quarantined: false, dryRun: false, ...options },
    { now: scene.clock.now, sleep: scene.clock.sleep, random: () => 0.5, onProgress: () => undefined },
    new AbortController().signal,
  );

/** Three rounds, the first two of them older than the retention. */
async function lived(scene: Scene): Promise<Scene> {
  for (const pauseMs of [DAY_MS + 1000, 31 * DAY_MS, 1000]) {
    expect((await scene.sync(CONFIG)).exitCode).toBe(0);
    scene.clock.advance(pauseMs);
  }
  return scene;
}

const VIEWS = [
  'daily_costs',
  'run_costs',
  'sync_costs',
  'answer_costs',
  'price_book',
  'sync_inputs',
  'sync_runs',
  'paid_answers',
];

const accountsIn = async ({ warehouse }: Scene) =>
  Promise.all(
    VIEWS.map(async (view) => [
      view,
      await select(warehouse, `select x::text from (select * from sluice.${view}) x order by 1`),
    ]),
  );

const bodies = ({ warehouse }: Scene) =>
  select<{ endpoint: string; kept: string; gone: string }>(
    warehouse,
    'select endpoint, count(body) as kept, count(pruned_at) as gone from sluice_ops.answers group by endpoint order by endpoint',
  );

anyWarehouse('pruning', (open) => {
  it('drops old bytes and nothing that counts: tables, costs, inputs and freshness stay', async () => {
    const scene = await lived(await sceneIn(await open()));
    const before = [await rowsOf(scene.warehouse, { machinery: true, volatile: true }), await accountsIn(scene)];
    const kept = await bodies(scene);

    const preview = await pruneIn(scene, { dryRun: true });
    expect(await bodies(scene)).toEqual(kept);
    const done = await pruneIn(scene);

    expect(preview.answers).toBeGreaterThan(0);
    expect(preview.bytes).toBeGreaterThan(0);
    expect({ ...done, dryRun: true }).toMatchObject({ ...preview, before: done.before });
    expect(done.requests).toBeGreaterThan(0);
    expect([await rowsOf(scene.warehouse, { machinery: true, volatile: true }), await accountsIn(scene)]).toEqual(
      before,
    );
    const now = await bodies(scene);
    // Within 40 days, so that they still serve.
    expect(now.find(({ endpoint }) => endpoint === 'pronet.group')).toMatchObject({ gone: '0' });
    expect(now.find(({ endpoint }) => endpoint === 'photoshare.user.posts')).toMatchObject({ kept: '1', gone: '2' });
    scene.arrived();
    await scene.sync(CONFIG, { names: ['groups'] });
    expect(scene.arrived()).toEqual([]);
    expect(await pruneIn(scene)).toMatchObject({ answers: 0, bytes: 0 });
  });

  it('keeps the identifier of the service, by which a later reading of the log finds the request', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    expect((await scene.sync(CONFIG, { names: ['photos'] })).exitCode).toBe(0);
    // The service logged its own identifier, which only the answer's header has.
    await select(warehouse, 'update sluice_ops.requests set x_request_id = gen_random_uuid()');
    scene.clock.advance(31 * DAY_MS);
    expect(await pruneIn(scene)).toMatchObject({ answers: 1 });
    expect(
      await select(warehouse, 'select array(select jsonb_object_keys(headers)) as kept from sluice_ops.answers'),
    ).toEqual([{ kept: ['x-request-id'] }]);

    expect((await scene.sync(CONFIG, { names: ['costs'] })).exitCode).toBe(0);

    expect(await select(warehouse, 'select request_id, match_kind from sluice_ops.request_cost_matches')).toEqual([
      { request_id: '1', match_kind: 'identifier' },
    ]);
  });

  it('keeps the last outcome of an input, whatever was planned and not sent since', async () => {
    const scene = await lived(await sceneIn(await open()));
    const { warehouse } = scene;
    const inputs = () => select(warehouse, 'select x::text from sluice.sync_inputs x order by 1');
    const fresh = await select<{ id: string; run_id: string }>(
      warehouse,
      "select id, run_id from sluice_ops.requests where sync = 'same_profiles' and state = 'fresh' order by id",
    );
    const [oldest, ...newer] = fresh;
    expect([oldest, newer.length]).toEqual([expect.anything(), 2]);
    const ids = newer.map(({ id }) => id).join(', ');
    // The newer requests as another run would have left them; a sample skips what it leaves out.
    await select(
      warehouse,
      `update sluice_ops.runs set scope = 'limited' where id in (${newer.map((it) => it.run_id).join(', ')})`,
    );
    for (const state of ['planned', 'sent', 'in_doubt', 'abandoned', 'skipped']) {
      await select(warehouse, `update sluice_ops.requests set state = '${state}' where id in (${ids})`);
      const before = await inputs();
      await pruneIn(scene);
      expect([state, await inputs()]).toEqual([state, before]);
    }
    await select(warehouse, `update sluice_ops.requests set state = 'fresh' where id in (${ids})`);
    expect((await pruneIn(scene)).requests).toBeGreaterThan(0);
    expect(await select(warehouse, `select id from sluice_ops.requests where id = ${oldest?.id ?? 0}`)).toEqual([]);
  });

  it('is reported by replays, and a rebuild refuses to lose rows', async () => {
    const scene = await lived(await sceneIn(await open()));
    await pruneIn(scene);
    const rows = await rowsOf(scene.warehouse, { machinery: true, volatile: true });

    const replayed = await scene.replay({ names: ['photos'] });
    expect(replayed).toMatchObject({ exitCode: 0, answers: 1, loaded: 0, gone: { answers: 2 } });
    await expect(scene.replay({ rebuild: true })).rejects.toThrow(UsageError);
    await expect(scene.replay({ rebuild: true })).rejects.toThrow('A rebuild would lose rows');
    expect(await rowsOf(scene.warehouse, { machinery: true, volatile: true })).toEqual(rows);
  });
});

anyWarehouse('pruning by age', (open) => {
  it('keeps what is not loaded, what is in quarantine, and what serves a run that is not done', async () => {
    const scene = await lived(await sceneIn(await open()));
    const ops = operationsOf(scene.warehouse);
    const photos = await ops
      .selectFrom('answers')
      .select(['id', 'run_id'])
      .where('endpoint', '=', 'photoshare.user.posts')
      .orderBy('id')
      .execute();
    const [first, second] = photos;
    await ops
      .updateTable('answers')
      .set({ loaded_at: null })
      .where('id', '=', first?.id ?? '')
      .execute();
    await ops
      .insertInto('quarantine')
      .values({
        answer_id: second?.id ?? '',
        sync: 'photos',
        endpoint: 'photoshare.user.posts',
        resource: 'PhotosharePost',
        position: '0',
        pointer: '/0',
        reason: 'for this test',
        created_at: scene.clock.now(),
      })
      .execute();
    const goneOf = async () => (await bodies(scene)).find(({ endpoint }) => endpoint === 'photoshare.user.posts')?.gone;

    await pruneIn(scene);
    expect(await goneOf()).toBe('0');
    await ops
      .updateTable('runs')
      .set({ state: 'interrupted' })
      .where('id', '=', second?.run_id ?? '')
      .execute();
    await pruneIn(scene, { quarantined: true });
    expect(await goneOf()).toBe('0');
    await ops
      .updateTable('runs')
      .set({ state: 'complete' })
      .where('id', '=', second?.run_id ?? '')
      .execute();
    await pruneIn(scene, { quarantined: true });
    expect(await goneOf()).toBe('1');
  });
});
