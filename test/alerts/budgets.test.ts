/** Alerts about budgets: shares that are spent, and months that end their limit early. */
import { expect, it } from 'vitest';
import { breachConditions, type ScheduledPoints, shareConditions } from '../../src/alerts/budget-conditions.ts';
import type { BudgetUse } from '../../src/control/budget/budget-use.ts';
import { keepScheduledPoints } from '../../src/alerts/scheduled-points.ts';
import { sendAlerts } from '../../src/alerts/send-alerts.ts';
import { listAlerts } from '../../src/alerts/store.ts';
import { firingsUntil } from '../../src/engine/firings.ts';
import { scheduledCosts } from '../../src/flow/forecast/scheduled-cost.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { configOf, type Scene, sceneIn, service } from '../flow/scene.ts';
import { DAY_MS } from '../flow/clock.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date('2026-03-21T00:00:00Z');
const use = (more: Partial<BudgetUse>): BudgetUse => ({
  budget: 'budget.per_month',
  period: '2026-03',
  limit: 100,
  spent: 0,
  spentPerDay: 0,
  from: new Date('2026-03-01T00:00:00Z'),
  until: new Date('2026-04-01T00:00:00Z'),
  tag: undefined,
  ...more,
});
const raised = (more: Partial<BudgetUse>): string[] =>
  [...shareConditions([use(more)]), ...breachConditions([use(more)], NOW, [])].flatMap(({ sync, isRaised }) =>
    isRaised ? [sync] : [],
  );

it('each share of a budget is an alert of its own', () => {
  expect(raised({ spent: 49 })).toEqual([]);
  expect(raised({ spent: 50 })).toEqual(['(budget.per_month 50%)']);
  expect(raised({ spent: 99 })).toEqual(['(budget.per_month 50%)', '(budget.per_month 80%)']);
  expect(raised({ spent: 100 })).toEqual([
    '(budget.per_month 50%)',
    '(budget.per_month 80%)',
    '(budget.per_month 100%)',
  ]);
  expect(raised({ limit: 0 })).toHaveLength(3);
});

it('a month that ends its limit early at the current rate is an alert, a day is not', () => {
  // Eleven days are left.
  expect(raised({ spent: 40, spentPerDay: 5 })).toEqual([]);
  expect(raised({ spent: 46, spentPerDay: 5 })).toEqual(['(budget.per_month forecast)']);
  const [forecast] = breachConditions([use({ spent: 46, spentPerDay: 6 })], NOW, []);
  expect(forecast?.because).toBe(
    'at the rate of the last 7 days, the 100 points of budget.per_month for 2026-03 end on 2026-03-30',
  );
  expect(raised({ spent: 100, spentPerDay: 5 })).not.toContain('(budget.per_month forecast)');
  expect(raised({ budget: 'budget.per_day', period: '2026-03-21', spent: 46, spentPerDay: 60 })).toEqual([]);
});

/** A firing at noon of each of these days. */
const scheduled = (tags: ScheduledPoints['tags'], likely: number, days: readonly string[]): ScheduledPoints => ({
  tags,
  firings: days.map((day) => ({ at: new Date(`${day}T12:00:00Z`), likely })),
});

it('schedules say when a month ends its limit, in place of the rate, and only their firings up to its end count', () => {
  const growth = scheduled({ team: 'growth' }, 30, ['2026-03-20', '2026-03-25', '2026-03-31', '2026-04-01']);
  const of = (more: Partial<BudgetUse>, ...syncs: readonly ScheduledPoints[]) => {
    const [found] = breachConditions([use(more)], NOW, syncs);
    return [found?.isRaised, found?.because];
  };
  // The firing of yesterday has been spent, that of April is in another month.
  expect(of({ spent: 40, spentPerDay: 99 }, growth)).toEqual([
    false,
    'by the forecast of the schedules, 100 of the 100 points of budget.per_month are spent in 2026-03',
  ]);
  expect(of({ spent: 40.5 }, growth)).toEqual([
    true,
    'by the forecast of the schedules, the 100 points of budget.per_month for 2026-03 end on 2026-03-31',
  ]);
  expect(of({ spent: 30 }, growth, scheduled({}, 50, ['2026-03-22']))).toEqual([
    true,
    'by the forecast of the schedules, the 100 points of budget.per_month for 2026-03 end on 2026-03-25',
  ]);
  expect(of({ spent: 101 }, growth)[0]).toBe(false);
  // A limit of a tag counts its syncs. Without a schedule, the rate is all that is known.
  const tag = { name: 'team', value: 'sales' };
  expect(of({ spent: 40, tag }, growth, scheduled({ team: 'sales' }, 1, ['2026-03-22']))[0]).toBe(false);
  expect(of({ spent: 40, tag, spentPerDay: 9 }, growth)).toEqual([
    true,
    'at the rate of the last 7 days, the 100 points of budget.per_month for 2026-03 end on 2026-03-27',
  ]);
});

it('a forecast is kept for an hour, and longer if it takes long; a failure is kept too', async () => {
  let now = NOW.getTime();
  let [calls, tookMs, fails] = [0, 0, false];
  const points = keepScheduledPoints(
    async (until) => {
      calls += 1;
      now += tookMs;
      expect(until.getTime() - now + tookMs).toBe(31 * DAY_MS);
      if (fails) throw new Error('inputs.csv is missing');
      return Promise.resolve([scheduled({}, calls, ['2026-03-22'])]);
    },
    () => new Date(now),
  );
  const callsAfter = async (ms: number): Promise<number> => {
    now += ms;
    await points();
    return calls;
  };
  expect([await callsAfter(0), await callsAfter(HOUR_MS - 1), await callsAfter(1)]).toEqual([1, 1, 2]);
  tookMs = HOUR_MS;
  expect([await callsAfter(HOUR_MS), await callsAfter(20 * HOUR_MS - 1), await callsAfter(1)]).toEqual([3, 3, 4]);
  [tookMs, fails] = [0, true];
  expect([await callsAfter(20 * HOUR_MS), await points(), await callsAfter(HOUR_MS - 1)]).toEqual([5, [], 5]);
});

anyWarehouse('alerts about the budget of a tag', (open) => {
  it('are raised by a run that spends it, and cleared in a month that spends less of it', async () => {
    const scene = await sceneIn(await open());
    const yaml = `${service()}\nbudget: { tags: { team: { growth: { per_month: 2 } } } }
alerts: { webhook: "http://127.0.0.1:9/hook" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] }, tags: { team: growth } }
`;
    const alerts = async (of: Scene, yamlText: string, by?: 'schedules' | 'elsewhere'): Promise<string[]> => {
      const config = await configOf(yamlText, of.sandbox.url);
      const { syncs } = await of.sync(yamlText);
      const { now, sleep } = of.clock;
      await sendAlerts(
        {
          ...config,
          alerts: { webhook: undefined, command: undefined, on: ALERT_KINDS, quarantine: 0, forecastMs: 1 },
        },
        of.warehouse,
        { syncs },
        {
          now,
          sleep,
          onNotice: () => undefined,
          redact: (text) => text,
          env: {},
          ...(by === 'elsewhere' && { scheduledPoints: by }),
          ...(by === 'schedules' && {
            scheduledPoints: keepScheduledPoints(
              (until) => scheduledCosts(of.warehouse, config, { now: now(), until, firingsUntil }),
              now,
            ),
          }),
        },
      );
      const found = await listAlerts(operationsOf(of.warehouse), 'all');
      return found
        .filter(({ kind, state }) => kind === 'budget' && state === 'raised')
        .map(({ sync, because }) => `${sync}: ${because}`)
        .toSorted();
    };
    const budget = 'budget.tags.team.growth.per_month';
    const because = (share: number) => `at least ${share} % of the points of ${budget} are spent in 2026-03: 2 of 2`;
    expect(await alerts(scene, yaml)).toEqual([
      `(${budget} 100%): ${because(100)}`,
      `(${budget} 50%): ${because(50)}`,
      `(${budget} 80%): ${because(80)}`,
    ]);
    const paid = (): number => scene.arrived().reduce((sum, { cost }) => sum + cost, 0);
    paid();
    // By the schedule, a day costs 3 points; at the rate of the last 7 days, it costs less.
    const scheduledYaml = yaml
      .replace('endpoint:', 'schedule: "0 12 * * *", endpoint:')
      .replace('per_month: 2', 'per_month: 40');
    expect(await alerts(scene, scheduledYaml)).toEqual([]);
    expect(paid()).toBe(1);
    expect(await alerts(scene, scheduledYaml, 'schedules')).toEqual([
      expect.stringMatching(
        /forecast\): by the forecast of the schedules, the 40 points of .* for 2026-03 end on 2026-03-1/,
      ),
    ]);
    expect(paid()).toBe(3);
    expect(await alerts(scene, scheduledYaml, 'elsewhere')).toHaveLength(1);
    scene.clock.advance(Date.parse('2026-04-01T00:00:01Z') - scene.clock.now().getTime());
    expect(await alerts(scene, yaml.replace('per_month: 2', 'per_month: 100'))).toEqual([]);
  });
});

anyWarehouse('alerts about a limit', (open) => {
  const yaml = (budget: string) => `${service()}
${budget}alerts: { webhook: "http://127.0.0.1:9/hook" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
`;
  const budget = 'budget: { per_day: 2 }\n';
  /** Runs the sync and returns the alerts that are active then. */
  const activeAfter = async (scene: Scene, text: string) => {
    const { clock, sandbox, warehouse } = scene;
    const { syncs } = await scene.sync(text);
    const alerts = { webhook: undefined, command: undefined, on: ALERT_KINDS, quarantine: 0, forecastMs: 1 };
    const effects = { ...clock, onNotice: () => undefined, redact: (line: string) => line, env: {} };
    await sendAlerts({ ...(await configOf(text, sandbox.url)), alerts }, warehouse, { syncs }, effects);
    return (await listAlerts(operationsOf(warehouse), 'active')).map(({ sync, since }) => [sync, since]);
  };
  const shares = ['100%', '50%', '80%'].map((share) => `(budget.per_day ${share})`);

  it('of a day are raised anew on each day that spends it, also if the first run of the day does', async () => {
    const scene = await sceneIn(await open());
    const first = await activeAfter(scene, yaml(budget));
    expect(first.map(([sync]) => sync).toSorted()).toEqual(shares);
    scene.clock.advance(DAY_MS);
    const second = await activeAfter(scene, yaml(budget));
    expect(second.map(([sync]) => sync).toSorted()).toEqual(shares);
    expect(second.filter(([, since]) => first.some(([, before]) => String(before) === String(since)))).toEqual([]);
  });

  it('are over with their period, also if the config has the limit no more', async () => {
    const scene = await sceneIn(await open());
    expect(await activeAfter(scene, yaml(budget))).toHaveLength(3);
    expect(await activeAfter(scene, yaml(''))).toHaveLength(3);
    scene.clock.advance(DAY_MS);
    expect(await activeAfter(scene, yaml(''))).toEqual([]);
  });
});
