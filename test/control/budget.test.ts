/** Limits in points hold with one call in flight and with four, and a later run sends what they leave. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from '../flow/clock.ts';
import { select, states } from '../flow/rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from '../flow/scene.ts';

const EIGHT = '["1001", "1002", "1003", "n4", "n5", "n6", "n7", "n8"]';

const groups = (inFlight: number, more = '', ofSync = ''): string => `${service({ in_flight: inFlight })}
${more}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ${EIGHT} }
    ${ofSync}
`;

/** One group for every request, for a point. */
const respond = ({ endpoint, body }: { readonly endpoint: string; readonly body: unknown }) =>
  endpoint === 'pronet.group'
    ? {
        body: [
          {
            urn: { type: 'group', value: (body as { group: string }).group },
            name: 'a group',
            url: 'u',
            member_count: 1,
          },
        ],
      }
    : undefined;

const paid = ({ sandbox }: Scene): number => sandbox.requests().reduce((sum, { cost }) => sum + cost, 0);
const sentTo = (scene: Scene, endpoint: string): number =>
  scene.arrived().filter((it) => it.endpoint === endpoint).length;

const PER_RUN: readonly (readonly [number, string, string])[] = [
  [4, 'budget: { per_run: 3 }', ''],
  [1, 'budget: { per_run: 3 }', ''],
  [1, '', 'budget: { per_run: 3 }'],
  [4, '', 'budget: { per_run: 3 }'],
];

anyWarehouse('a limit in points', (open) => {
  it('budget.keep is never spent, however long ago the log showed the balance', async () => {
    const scene = await sceneIn(await open(), { respond, points: 12 });
    const log = `${service()}\nsyncs: { costs: { endpoint: token.requests } }\n`;
    await scene.sync(`${service()}\nsyncs: { first: { endpoint: microblog.user, request: { user: acme_labs } } }\n`);
    await scene.sync(log);
    scene.clock.advance(1000);
    scene.arrived();

    const config = groups(1, 'budget: { keep: 8 }');
    const first = only(await scene.sync(config));
    expect(first).toMatchObject({ exitCode: 6, answers: 3, left: 5 });
    expect(scene.sandbox.points()).toBe(8);
    // The log still shows the balance from before these three.
    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 6, answers: 3 });
    expect(sentTo(scene, 'pronet.group')).toBe(3);
    expect(scene.sandbox.points()).toBe(8);

    scene.sandbox.setPoints(100);
    await scene.sync(`${service()}\nsyncs: { first: { endpoint: microblog.user, request: { user: acme_labs } } }\n`);
    await scene.sync(log);
    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, continued: true, answers: 8 });
  });

  it.each(PER_RUN)('with %i in flight: %s %s', async (inFlight, more, ofSync) => {
    const scene = await sceneIn(await open(), { respond });
    const config = groups(inFlight, more, ofSync);

    const rounds: unknown[] = [];
    for (let round = 1; round <= 3; round += 1) {
      const { exitCode, state, continued, left } = only(await scene.sync(config));
      rounds.push({ exitCode, state, continued, left, sent: sentTo(scene, 'pronet.group') });
    }

    expect(rounds).toEqual([
      { exitCode: 6, state: 'out_of_points', continued: false, left: 5, sent: 3 },
      { exitCode: 6, state: 'out_of_points', continued: true, left: 2, sent: 3 },
      { exitCode: 0, state: 'complete', continued: true, left: 0, sent: 2 },
    ]);
    expect(paid(scene)).toBe(8);
    expect(sentAgain(scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group')).size).toBe(0);
  });

  it('what it leaves of a refresh is sent by a plain run after it, although older answers are fresh', async () => {
    const scene = await sceneIn(await open(), { respond });
    const config = groups(4, '', 'max_age: 1d');
    await scene.sync(config);
    const cut = only(await scene.sync(config, { refresh: true, maxPoints: 3 }));
    expect(cut).toMatchObject({ exitCode: 6, fresh: 0, left: 5 });

    const rest = only(await scene.sync(config));

    expect(rest).toMatchObject({ exitCode: 0, continued: true, fresh: 0, answers: 8 });
    expect(sentTo(scene, 'pronet.group')).toBe(16);
    expect(only(await scene.sync(config))).toMatchObject({ continued: false, fresh: 8, answers: 0 });
  });

  it('--max-points holds for one invocation', async () => {
    const scene = await sceneIn(await open(), { respond });

    const run = only(await scene.sync(groups(4), { maxPoints: 5 }));

    expect(run).toMatchObject({ exitCode: 6, answers: 5, left: 3, points: 5 });
    expect(run.error).toContain('--max-points is 5 points');
    expect(only(await scene.sync(groups(4)))).toMatchObject({ exitCode: 0, continued: true, answers: 8 });
  });

  it.each([4, 1])(
    'budget.per_day holds over invocations with %i in flight, and ends with the UTC day',
    async (inFlight) => {
      const scene = await sceneIn(await open(), { respond });
      const config = groups(inFlight, 'budget: { per_day: 4 }');

      expect(only(await scene.sync(config))).toMatchObject({ exitCode: 6, answers: 4 });
      expect(sentTo(scene, 'pronet.group')).toBe(4);
      expect(only(await scene.sync(config))).toMatchObject({ exitCode: 6, answers: 4 });
      expect(sentTo(scene, 'pronet.group')).toBe(0);
      scene.clock.advance(DAY_MS * 0.5);
      expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, continued: true, answers: 8 });
    },
  );

  it('counts what an answer cost, not the most that it could have', async () => {
    // 1000 results can cost 100 points; the few there are cost one.
    const scene = await sceneIn(await open());
    const config = (inFlight: number, more: string): string => `${service({ in_flight: inFlight })}
${more}
syncs:
  people:
    endpoint: pronet.search.users
    request: { title: data engineer, count: 1000 }
    for_each: { location: [Berlin, Paris, Oslo, Rome] }
`;
    const run = only(await scene.sync(config(1, 'budget: { per_day: 150 }')));
    expect(run).toMatchObject({ exitCode: 0, answers: 4, left: 0 });
    expect(run.points).toBe(paid(scene));
    expect(run.points).toBeLessThan(10);
    expect(await select(scene.warehouse, 'select sum(points)::int as points from sluice_ops.requests')).toEqual([
      { points: run.points },
    ]);
    // So a later run of the same day has the rest.
    expect(only(await scene.sync(config(1, 'budget: { per_day: 150 }')))).toMatchObject({ exitCode: 0, answers: 4 });
  });

  it('waits for what calls in flight turn out to cost before it is reached', async () => {
    const scene = await sceneIn(await open());
    const config = `${service({ in_flight: 4 })}
budget: { per_run: 210 }
syncs:
  people:
    endpoint: pronet.search.users
    request: { title: data engineer, count: 1000 }
    for_each: { location: [Berlin, Paris, Oslo, Rome, Madrid, Vienna] }
`;
    const run = only(await scene.sync(config));

    expect(run).toMatchObject({ exitCode: 0, answers: 6, left: 0 });
    expect(Math.max(...scene.sandbox.requests().map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(2);
  });

  it('of one sync ends only that one', async () => {
    const scene = await sceneIn(await open(), { respond });
    const config = `${groups(1, '', 'budget: { per_run: 2 }')}  costs: { endpoint: token.requests, after: [groups] }\n`;

    const { exitCode, syncs } = await scene.sync(config);

    expect(exitCode).toBe(6);
    expect(syncs).toMatchObject([
      { exitCode: 6, answers: 2 },
      { exitCode: 0, state: 'complete' },
    ]);
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.fact_request_costs')).toEqual([
      { n: 2 },
    ]);
  });

  it('reached for all lets through what is free', async () => {
    const scene = await sceneIn(await open(), { respond });
    const config = `${groups(1, 'budget: { per_run: 2 }')}  again: { endpoint: microblog.user, request: { user: acme_labs } }
  costs: { endpoint: token.requests, after: [groups, again] }\n`;

    const { syncs } = await scene.sync(config);

    expect(syncs).toMatchObject([
      { exitCode: 6 },
      { exitCode: 6, sent: 0, left: 1 },
      { exitCode: 0, state: 'complete' },
    ]);
    expect(await states(scene.warehouse)).toMatchObject({ planned: 7, loaded: 4 });
  });

  it.each([
    ['per_run', 7],
    ['per_day', 56],
  ])('exceeded for all still lets the request log be read: %s', async (limit, spent) => {
    const scene = await sceneIn(await open(), { respond, prices: { 'pronet.group': { points: 7 } } });
    if (limit === 'per_day') await scene.sync(groups(1));
    const config = `${groups(1, `budget: { ${limit}: 3 }`)}  costs: { endpoint: token.requests, after: [groups] }\n`;

    const { syncs } = await scene.sync(config);

    expect(syncs).toMatchObject([{ exitCode: 6 }, { exitCode: 0, state: 'complete' }]);
    expect(await select(scene.warehouse, 'select sum(points)::int as points from sluice.logged_requests')).toEqual([
      { points: spent },
    ]);
    expect(paid(scene)).toBe(spent);
  });
});
