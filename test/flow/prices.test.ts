/** Prices that differ from every guess: learned from the log, quoted, kept within limits, and scored. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { dyingAt, expireLeases } from './crash.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const SEVEN = { prices: { 'pronet.group': { points: 7 } } };
const NAMES = ['1001', '1002', '1003', 'n4', 'n5', 'n6', 'n7', 'n8'];

const groups = (names: readonly string[], more = ''): string => `${service()}
${more}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ${JSON.stringify(names)} }
`;
const COSTS = `${service()}\nsyncs: { costs: { endpoint: token.requests } }\n`;

/** One group for every request. */
const respond = ({ endpoint, body }: { readonly endpoint: string; readonly body: unknown }) =>
  endpoint === 'pronet.group'
    ? { body: [{ urn: { type: 'group', value: (body as { group: string }).group }, name: 'a group', url: 'u' }] }
    : undefined;

/** The points that the sandbox charged since the last call. */
const charged = (scene: Scene): number => scene.arrived().reduce((sum, { cost }) => sum + cost, 0);

let ids = 0;
const newIds = (): string => `00000000-0000-4000-9000-${String((ids += 1)).padStart(12, '0')}`;

anyWarehouse('prices', (open) => {
  it('that a later sync of the log shows are those of the summary and of the runs', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    const config = `${groups(NAMES)}  costs: { endpoint: token.requests, after: [groups] }\n`;

    const { syncs } = await scene.sync(config);

    expect(charged(scene)).toBe(56);
    expect(syncs).toMatchObject([
      { sync: 'groups', points: 56 },
      { sync: 'costs', points: 0 },
    ]);
    const runs = 'select sync, points::int as points from sluice.sync_runs order by run_id';
    expect(await select(scene.warehouse, runs)).toEqual(syncs.map(({ sync, points }) => ({ sync, points })));
  });

  it('that a later sync of the log shows are also those of the summary of a continued run', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await open(), {
      respond: (call) => {
        if ((call.body as { readonly group?: string } | null)?.group === '1003') stop.abort();
        return respond(call);
      },
      ...SEVEN,
    });
    const config = `${groups(NAMES)}  costs: { endpoint: token.requests, after: [groups] }\n`;
    await scene.sync(config, { signal: stop.signal });
    const before = charged(scene);
    scene.clock.advance(60_000);

    const { syncs } = await scene.sync(config);

    const after = charged(scene);
    expect([before, after]).toEqual([21, 35]);
    expect(syncs[0]).toMatchObject({ continued: true, points: 56, pointsNow: 35 });
    expect(await select(scene.warehouse, "select points::int from sluice.sync_runs where sync = 'groups'")).toEqual([
      { points: 56 },
    ]);
  });

  it('that the log teaches replace the guess in the next run’s quote, and the quote holds', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    const first = only(await scene.sync(groups(NAMES)));
    expect(first.quote).toEqual({ requests: 8, low: 8, likely: 8, high: 8, most: 8, confidence: 'guess', samples: 0 });
    expect(charged(scene)).toBe(56);
    await scene.sync(COSTS);

    const second = only(await scene.sync(groups(NAMES)));

    expect(second.quote).toEqual({
      requests: 8,
      low: 56,
      likely: 56,
      high: 56,
      most: 56,
      confidence: 'some',
      samples: 8,
    });
    expect([second.points, charged(scene)]).toEqual([56, 56]);
    await scene.sync(COSTS);
    await scene.sync(groups(NAMES));
    await scene.sync(COSTS);
    expect(only(await scene.sync(groups(NAMES))).quote).toMatchObject({ likely: 56, confidence: 'good', samples: 24 });
  });

  it('that the log teaches are what limits hold by: what the guess would overshoot is not sent', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    await scene.sync(groups(NAMES.slice(0, 3)));
    await scene.sync(COSTS);
    charged(scene);

    const run = only(await scene.sync(groups(NAMES.slice(3), 'budget: { per_run: 20 }')));

    expect(run).toMatchObject({ exitCode: 6, answers: 2, left: 3, points: 14 });
    expect(run.error).toContain('the next request can cost 7');
    expect(charged(scene)).toBe(14);
  });

  it('by the items returned settle each answer at what it cost', async () => {
    const prices = { 'photoshare.user.posts': { points: 2, per: 5 } };
    const users = Array.from({ length: 12 }, (_, at) => `u${(at * 7) % 20}`);
    const posts = ({ endpoint, body }: { readonly endpoint: string; readonly body: unknown }) => {
      if (endpoint !== 'photoshare.user.posts') return undefined;
      const { user } = body as { user: string };
      return { body: Array.from({ length: Number(user.slice(1)) }, (_, at) => ({ id: `${user}_${at}`, code: 'c' })) };
    };
    const scene = await sceneIn(await open(), { prices, respond: posts });
    const photos = (count: number): string => `${service()}
syncs:
  photos: { endpoint: photoshare.user.posts, request: { count: ${count} }, for_each: { user: ${JSON.stringify(users)} } }
`;
    await scene.sync(photos(23));
    await scene.sync(COSTS);
    charged(scene);

    const { points, quote } = only(await scene.sync(photos(22)));

    expect(points).toBe(charged(scene));
    expect(quote?.low).toBeLessThanOrEqual(points);
    expect(quote?.high).toBeGreaterThanOrEqual(points);
    expect(quote).toMatchObject({ requests: users.length, most: users.length * 10 });
  });

  it('that changed are quoted after a few answers', async () => {
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(groups(NAMES));
    await scene.sync(COSTS);
    expect(only(await scene.sync(groups(NAMES))).quote).toMatchObject({ likely: 8, confidence: 'some' });
    await scene.sync(COSTS);

    const dearer = await sceneIn(scene.warehouse, {
      respond,
      ...SEVEN,
      newId: newIds,
      start: '2026-03-07T15:00:00.000Z',
    });
    await dearer.sync(groups(NAMES.slice(0, 5)));
    await dearer.sync(COSTS);

    expect(only(await dearer.sync(groups(NAMES))).quote).toMatchObject({ likely: 56, most: 56, samples: 5 });
  });

  it('that a limit does not allow stop requests, and the progress counts these as planned', async () => {
    const scene = await sceneIn(await open(), { respond });
    const config = groups(NAMES, 'budget: { per_run: 3 }').replace('in_flight: 1', 'in_flight: 4');
    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 6, sent: 3, left: 5 });
    expect(Math.max(...scene.progress.map(({ done }) => done))).toBe(3);
  });

  it('quoted at the start of a run stay when it is continued', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    const limited = groups(NAMES, 'budget: { per_run: 3 }');
    expect(only(await scene.sync(limited))).toMatchObject({ exitCode: 6, quote: { likely: 8, confidence: 'guess' } });
    await scene.sync(COSTS);

    const run = only(await scene.sync(groups(NAMES)));

    expect(run).toMatchObject({ exitCode: 0, continued: true, quote: { requests: 8, likely: 8, confidence: 'guess' } });
    expect(await select(scene.warehouse, "select quote from sluice_ops.runs where sync = 'groups'")).toEqual([
      { quote: { ...run.quote, covered: 0 } },
    ]);
  });

  it('are not quoted for what is fresh', async () => {
    const scene = await sceneIn(await open(), { respond });
    const fresh = (names: readonly string[]): string => `${groups(names)}    max_age: 7d\n`;
    await scene.sync(fresh(NAMES.slice(0, 5)));
    expect(only(await scene.sync(fresh(NAMES))).quote).toMatchObject({ requests: 3, most: 3 });
  });

  it('of an answer that can’t be read are the most that it could cost', async () => {
    const html = () => ({ body: '<html>', headers: { 'content-type': 'text/html' } });
    const scene = await sceneIn(await open(), { respond: html });
    const run = only(
      await scene.sync(
        `${service()}\nsyncs: { people: { endpoint: pronet.search.users, request: { title: engineer, count: 95 } } }\n`,
      ),
    );
    expect(run).toMatchObject({ quarantined: 1, points: 10, quote: { low: 1, likely: 10, most: 10 } });
  });
});

anyWarehouse('rows of the log that a limit needs', (open) => {
  const LIMITED = groups(NAMES, 'budget: { per_run: 100 }');
  const costs = (scene: Scene) => select(scene.warehouse, 'select count(*)::int as n from sluice.fact_request_costs');

  it('do not stay without a sync of the log, and no replay brings them back', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    expect(only(await scene.sync(LIMITED))).toMatchObject({ exitCode: 0, points: 56 });
    expect(await costs(scene)).toEqual([{ n: 0 }]);

    expect((await scene.replay()).written).toEqual({});
    expect(await costs(scene)).toEqual([{ n: 0 }]);
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, answers: 8 });
    expect(await costs(scene)).toEqual([{ n: 0 }]);
    // The log reads are no gap of the tables.
    await select(
      scene.warehouse,
      "update sluice_ops.answers set body = null, pruned_at = now() where sync = 'groups:log' returning id",
    );
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, gone: null });
  });

  it('stay with a sync of the log, and a replay loads them', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    await scene.sync(COSTS);
    await scene.sync(LIMITED);
    const before = await costs(scene);
    expect(before).not.toEqual([{ n: 0 }]);
    await scene.replay({ rebuild: true });
    expect(await costs(scene)).toEqual(before);
  });

  it('of the time before a sync read the log are not brought back by a replay', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    await scene.sync(LIMITED);
    scene.clock.advance(1000);
    await scene.sync(COSTS);
    const rows = () =>
      select(scene.warehouse, 'select id, _answer_id, _first_seen_at from sluice.fact_request_costs order by id');
    const before = await rows();
    expect(before).not.toEqual([]);
    await scene.replay({ rebuild: true });
    expect(await rows()).toEqual(before);
    await scene.replay();
    expect(await rows()).toEqual(before);
  });

  it('that a dead process left are removed by the run that continues', async () => {
    const scene = await sceneIn(await open(), { respond, ...SEVEN });
    const point = { when: 'before', statement: /^delete from "sluice"\."fact_request_costs"/, nth: 1 } as const;
    const dying = dyingAt(scene.warehouse, point);
    await expect(scene.sync(LIMITED, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    expect(await costs(scene)).not.toEqual([{ n: 0 }]);

    expect(only(await scene.sync(LIMITED))).toMatchObject({ exitCode: 0, continued: true, points: 56 });
    expect(await costs(scene)).toEqual([{ n: 0 }]);
  });
});
