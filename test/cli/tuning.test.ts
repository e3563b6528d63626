/** `sluice costs --tune`: settings that would have saved points, from what syncs bought. */
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/definition.ts';
import { proposeChanges, type TuningInput, tuningPatch } from '../../src/cli/text/tuning.ts';
import { readCosts } from '../../src/insight/costs.ts';
import { readTuningFacts } from '../../src/insight/tuning.ts';
import type { EndpointPrice } from '../../src/cli/text/prices.ts';
import { load } from '../config/written.ts';
import { DAY_MS } from '../flow/clock.ts';
import { select } from '../flow/rows.ts';
import { configOf, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const HEAD = 'service: { url: "http://127.0.0.1:9" }\nwarehouse: { url: "embedded:wh" }\nsyncs:\n';
const nothing: TuningInput = {
  facts: { days: 30, missing: [], returned: [], shared: [] },
  savings: [],
  prices: [],
};
const facts = (more: Partial<TuningInput['facts']>): TuningInput => ({
  ...nothing,
  facts: { ...nothing.facts, ...more },
});
const price = (by: EndpointPrice['by']): EndpointPrice => ({
  endpoint: 'pronet.search.users',
  by,
  per: 10,
  points: 2,
  empty: null,
  missing: null,
  low: 1,
  median: 1,
  high: 1,
  deviation: 0,
  samples: 30,
  confidence: 'good',
  levels: [],
});

describe('proposals to save points', () => {
  const people = (): Promise<Config> =>
    load(`${HEAD}  people: { endpoint: pronet.search.users, request: { title: x, count: 100 }, max_age: 2d }\n`);
  const returned = [{ sync: 'people', requested: 100, most: 23, answers: 30 }];

  it('a count above what is returned is lowered with room for growth, if the price goes by the number requested', async () => {
    const config = await people();
    const input = { ...facts({ returned }), prices: [price('asked')] };
    // Three units of ten instead of ten, at two points each, in thirty answers of thirty days.
    expect(proposeChanges(config, input)).toMatchObject([
      { sync: 'people', path: ['request', 'count'], value: 30, savedPoints: 420, savedPointsAMonth: 420 },
    ]);
    expect(proposeChanges(config, { ...input, prices: [price('returned')] })).toEqual([]);
    const few = facts({ returned: [{ sync: 'people', requested: 100, most: 1, answers: 4 }] });
    expect(proposeChanges(config, { ...few, prices: [price('asked')] })).toEqual([]);
    // An answer as long as requested would count as truncated.
    const full = facts({ returned: [{ sync: 'people', requested: 100, most: 80, answers: 30 }] });
    expect(proposeChanges(config, { ...full, prices: [price('asked')] })).toEqual([]);
  });

  it('of two reasons for a max_age, the one that saves more is proposed, and none up to the current age', async () => {
    const config = await people();
    const shared = [{ sync: 'people', other: 'others', requests: 3, points: 9, days: 1.5 }];
    expect(proposeChanges(config, facts({ shared }))).toMatchObject([
      {
        path: ['max_age'],
        value: '7d',
        savedPoints: 9,
        reason: '3 requests had been bought by others at most 2 days before',
      },
    ]);
    expect(proposeChanges(config, facts({ shared: [{ ...shared[0], days: 0.5 }] as typeof shared }))).toEqual([]);
    const saving = { sync: 'people', answers: 40, points: 40, savedAnswers: 20, lateAnswers: 1 };
    const savings = [{ ...saving, maxAgeDays: 30, savedPoints: 20 }];
    expect(proposeChanges(config, { ...facts({ shared }), savings })).toMatchObject([
      { value: '30d', savedPoints: 20 },
    ]);
  });

  it('are a patch that loads as part of a config, and remove inputs only in a comment', async () => {
    const config = await people();
    const missing = [{ sync: 'people', inputs: 7, examples: ['{"title":"\\n# y"}'], points: 7 }];
    const shared = [{ sync: 'people', other: 'others', requests: 3, points: 9, days: 5 }];
    const changes = proposeChanges(config, { ...facts({ returned, shared, missing }), prices: [price('asked')] });
    const patch = tuningPatch(changes, 30);
    expect(patch).toBe(`# Proposals from the answers of 30 days. Copy what you want into the config.
syncs:
  people:
    request:
      # the most items in 30 answers were 23 of 100 requested, and the price depends on the number requested; saves 420 points a month
      count: 30
    # 3 requests had been bought by others at most 5 days before; saves 9 points a month
    max_age: 7d
    # for_each: remove 7 inputs that the service does not know: {"title":"\\n# y"}, …; saves 7 points a month
`);
    expect(tuningPatch([], 30)).toBe('# No setting of the config would have saved points in the answers of 30 days.\n');
  });
});

anyWarehouse('proposals from what syncs bought', (open) => {
  it('name refreshes without anything new, requests of two syncs, and inputs that are always missing', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        const { user, group } = body as { readonly user?: string; readonly group?: string };
        if (endpoint === 'microblog.user' && user === 'gone') return { status: 412, body: [] };
        if (endpoint === 'pronet.group')
          return { body: [{ urn: { type: 'group', value: group }, name: 'a group', url: 'u' }] };
        return undefined;
      },
    });
    const yaml = `${service()}\nsyncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1", "2"] } }
  same: { endpoint: pronet.group, for_each: { group: ["2"] } }
  users: { endpoint: microblog.user, for_each: { user: [gone] } }
  costs: { endpoint: token.requests }
`;
    for (let day = 0; day < 4; day += 1) {
      await scene.sync(yaml);
      scene.clock.advance(DAY_MS);
    }
    // The sandbox charges nothing for an unknown user; other services do.
    await select(scene.warehouse, "update sluice_ops.requests set charged = 1 where sync = 'users'");
    const config = await configOf(yaml, scene.sandbox.url);
    const found = await readTuningFacts(scene.warehouse, 'token.requests');
    expect(found.days).toBeGreaterThan(2.9);
    expect(found.shared).toMatchObject([
      { sync: 'groups', other: 'same', requests: 3, points: 3 },
      { sync: 'same', other: 'groups', requests: 4, points: 4 },
    ]);
    const { savings } = await readCosts(scene.warehouse, undefined, scene.clock.now());
    const changes = proposeChanges(config, { facts: found, savings, prices: [] });
    // Of eight answers about groups, the first two had something new; the other sync needs none of its own.
    expect(changes.map(({ sync, path, value, savedPoints }) => [sync, path.join('.'), value, savedPoints])).toEqual([
      ['groups', 'max_age', '7d', 6],
      ['same', 'max_age', '1d', 4],
      ['users', 'for_each', null, 4],
    ]);
    expect(found.missing).toEqual([{ sync: 'users', inputs: 1, examples: ['{"user": "gone"}'], points: 4 }]);
  });
});
