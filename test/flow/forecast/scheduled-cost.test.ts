/** The forecast of a month, against what the schedules of that month are charged for. */
import { describe, expect, it } from 'vitest';
import { firingsUntil } from '../../../src/engine/firings.ts';
import { readForecastScores, saveForecast } from '../../../src/ledger/forecasts.ts';
import { scheduledCosts } from '../../../src/flow/forecast/scheduled-cost.ts';
import { monthlyCost } from '../../../src/plan/forecast/cost-change.ts';
import type { Config } from '../../../src/config/definition.ts';
import type { Scene } from '../scene.ts';
import { postgresWarehouses } from '../../support/warehouse.ts';
import { KNOWN_ALIASES } from '../../../src/sandbox/world/known.ts';
import { configOf, SMALL, sceneIn, service } from '../scene.ts';
import { IS_LONG } from '../../support/long.ts';
import { DAY_MS } from '../clock.ts';

const open = postgresWarehouses();
const USERS = [...KNOWN_ALIASES, 'nobody-1'];
const config = (syncs: string): string => `${service()}\nsyncs:\n${syncs}`;
const groups = (schedule: string, more = ''): string =>
  `  groups: { endpoint: pronet.group, schedule: "${schedule}", for_each: { group: ["1001", "1002", "1003"] }${more} }\n`;
const COSTS = '  costs: { endpoint: token.requests }\n';

/** A month with a firing every third day takes a third of the processor time; the long form fires daily, or on weekdays. */
const [DAYS, WEEKDAYS] = IS_LONG ? ['*', '1-5'] : ['*/3', '1,4'];

const CHANGES: readonly (readonly [string, string])[] = [
  ['a sync without max_age', groups(`15 6 ${DAYS} * *`)],
  ['a sync with a max_age of a week', groups(`15 6 ${DAYS} * *`, ', max_age: 7d')],
  [
    'a sync on weekdays, with an unknown user',
    `  users: { endpoint: microblog.user, schedule: "0 7 * * ${WEEKDAYS}", max_age: 36h, for_each: { user: ${JSON.stringify(USERS)} } }\n`,
  ],
  [
    'a window that grows',
    `  filings: { endpoint: sec.search.companies, schedule: "0 5 ${DAYS} * *", request: { count: 100 }, window: { from: 2026-02-20, lookback: 3d } }\n`,
  ],
];

/** Each sync with one of three seeds; the long form has all three for each. */
const CASES = CHANGES.flatMap(([what, yaml], at) =>
  (IS_LONG ? [1, 2, 3] : [(at % 3) + 1]).map((seed) => [what, seed, yaml] as const),
);

async function costsOf({ warehouse, clock }: Scene, config: Config) {
  const now = clock.now();
  const until = new Date(now.getTime() + 30 * DAY_MS);
  return scheduledCosts(warehouse, config, { now, until, firingsUntil });
}
const monthlyCosts = async (scene: Scene, config: Config) => (await costsOf(scene, config)).map(monthlyCost);

describe('the cost of a month', () => {
  it.each(CASES)('of $0 is within 10 % of what it is charged (seed $1)', async (_, seed, yaml) => {
    const scene = await sceneIn(await open(), { seed, size: SMALL });
    const charged = (): number => scene.arrived().reduce((sum, { cost }) => sum + cost, 0);
    // Two runs and their log show the prices, and how a question is split.
    await scene.sync(config(yaml));
    scene.clock.advance(DAY_MS);
    await scene.sync(config(yaml));
    await scene.sync(config(COSTS));
    charged();
    const loaded = await configOf(config(yaml), scene.sandbox.url);
    const now = scene.clock.now();
    const costs = await costsOf(scene, loaded);
    await saveForecast(scene.warehouse, costs, { now, until: new Date(now.getTime() + 30 * DAY_MS) });
    const [cost] = costs.map(monthlyCost);
    const schedule = loaded.syncs[0]?.schedule;
    if (!cost || !schedule) throw new Error('no sync was priced');
    const firings = firingsUntil(schedule, now, new Date(now.getTime() + 30 * DAY_MS));
    for (const at of firings) {
      scene.clock.advance(at.getTime() - scene.clock.now().getTime());
      await scene.sync(config(yaml));
    }
    const spent = charged();
    const [score] = await readForecastScores(scene.warehouse, 1);
    expect.soft(Math.abs((score?.spent ?? 0) - (score?.likely ?? 0)) / spent).toBeLessThanOrEqual(0.1);
    expect(spent).toBeGreaterThan(0);
    expect
      .soft(Math.abs(cost.likely - spent) / spent, `seed ${seed}: ${cost.likely} for ${spent}`)
      .toBeLessThanOrEqual(0.1);
    expect(cost.firings).toBe(firings.length);
  });

  it('of a window that was read today includes the firing of tomorrow', async () => {
    const scene = await sceneIn(await open(), { start: '2026-03-06T05:00:00Z' });
    const yaml = config(
      '  filings: { endpoint: sec.search.companies, schedule: "0 5 * * *", max_age: 30d, request: { count: 100 }, window: { from: 2026-02-20 } }\n',
    );
    await scene.sync(yaml);
    scene.clock.advance(8 * 3_600_000);
    const [cost] = await costsOf(scene, await configOf(yaml, scene.sandbox.url));
    expect(cost?.firings[0]).toMatchObject({ at: new Date('2026-03-07T05:00:00Z'), questions: 1 });
  });

  it.each([
    [
      'up to the present, four times a day',
      '0 */6 * * *',
      'today',
      [true, true, false, false, true, true, false, false],
    ],
    ['with an end to come, once a day', '0 6 * * *', '2026-12-31', [true, true]],
  ])('of a window %s counts each firing after the end of a day, whatever its max_age', async (_, cron, to, sent) => {
    const scene = await sceneIn(await open(), { start: '2026-03-06T23:30:00Z' });
    const yaml = config(
      `  filings: { endpoint: sec.search.companies, schedule: "${cron}", max_age: 30d, request: { count: 100 }, window: { from: 2026-03-01, to: ${to} } }\n`,
    );
    await scene.sync(yaml);
    scene.arrived();
    const [cost] = await costsOf(scene, await configOf(yaml, scene.sandbox.url));
    const firings = cost?.firings.slice(0, sent.length) ?? [];
    expect(firings.map(({ questions }) => questions > 0)).toEqual(sent);
    for (const [index, { at }] of firings.entries()) {
      scene.clock.advance(at.getTime() - scene.clock.now().getTime());
      await scene.sync(yaml);
      expect(scene.arrived().length > 0, at.toISOString()).toBe(sent[index]);
    }
  });

  it('of a window counts no parts as long as its answers are far from full', async () => {
    const scene = await sceneIn(await open(), { start: '2026-03-04T05:00:00Z', size: SMALL });
    const yaml = config(
      '  filings: { endpoint: sec.search.companies, schedule: "0 5 * * 1", request: { entity_name: ADRC, count: 100 }, window: { from: 2026-02-20, lookback: 1d } }\n',
    );
    await scene.sync(yaml);
    scene.clock.advance(DAY_MS);
    await scene.sync(yaml);
    scene.arrived();
    const [cost] = await costsOf(scene, await configOf(yaml, scene.sandbox.url));
    expect(cost?.firings.map(({ questions, likely }) => `${questions} for ${likely}`)).toEqual(
      Array(4).fill('1 for 1'),
    );
    for (const { at } of cost?.firings ?? []) {
      scene.clock.advance(at.getTime() - scene.clock.now().getTime());
      await scene.sync(yaml);
      expect(scene.arrived()).toHaveLength(1);
    }
  });

  it('of a sync that nothing fires is one run, and a child without a schedule follows its parents', async () => {
    const scene = await sceneIn(await open());
    const child = '  users: { endpoint: microblog.user, after: [groups], for_each: { user: [u1] } }\n';
    const priced = async (yaml: string) => monthlyCosts(scene, await configOf(config(yaml), scene.sandbox.url));
    expect(await priced(`${groups('0 6 * * 1')}${child}`)).toMatchObject([
      { sync: 'groups', firings: 4, questions: 12 },
      { sync: 'users', firings: 4, questions: 4 },
    ]);
    expect(await priced(child.replace(', after: [groups]', ''))).toMatchObject([
      { firings: null, questions: 1, likely: 1 },
    ]);
  });
});
