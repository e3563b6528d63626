/** Alerts about budgets: shares that are spent, and months that end their limit early. */
import { expect, it } from 'vitest';
import { budgetConditions } from '../../src/alerts/budget-conditions.ts';
import type { BudgetUse } from '../../src/control/budget/budget-use.ts';
import { sendAlerts } from '../../src/alerts/send-alerts.ts';
import { listAlerts } from '../../src/alerts/store.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { configOf, type Scene, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const NOW = new Date('2026-03-21T00:00:00Z');
const use = (more: Partial<BudgetUse>): BudgetUse => ({
  budget: 'budget.per_month',
  period: '2026-03',
  limit: 100,
  spent: 0,
  spentPerDay: 0,
  until: new Date('2026-04-01T00:00:00Z'),
  tag: undefined,
  ...more,
});
const raised = (more: Partial<BudgetUse>): string[] =>
  budgetConditions([use(more)], NOW).flatMap(({ sync, isRaised }) => (isRaised ? [sync] : []));

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
  const [, , , forecast] = budgetConditions([use({ spent: 46, spentPerDay: 6 })], NOW);
  expect(forecast?.because).toBe(
    'at the rate of the last 7 days, the 100 points of budget.per_month for 2026-03 end on 2026-03-30',
  );
  expect(raised({ spent: 100, spentPerDay: 5 })).not.toContain('(budget.per_month forecast)');
  expect(raised({ budget: 'budget.per_day', period: '2026-03-21', spent: 46, spentPerDay: 60 })).toEqual([]);
});

anyWarehouse('alerts about the budget of a tag', (open) => {
  it('are raised by a run that spends it, and cleared in a month that spends less of it', async () => {
    const scene = await sceneIn(await open());
    const yaml = `${service()}\nbudget: { tags: { team: { growth: { per_month: 2 } } } }
alerts: { webhook: "http://127.0.0.1:9/hook" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] }, tags: { team: growth } }
`;
    const alerts = async (of: Scene, yamlText: string): Promise<string[]> => {
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
        { now, sleep, onNotice: () => undefined, redact: (text) => text, env: {} },
      );
      const found = await listAlerts(operationsOf(of.warehouse));
      return found
        .filter(({ kind, state }) => kind === 'budget' && state === 'raised')
        .map(({ sync, because }) => `${sync}: ${because}`)
        .toSorted();
    };
    const budget = 'budget.tags.team.growth.per_month';
    const because = `2 of the 2 points of ${budget} are spent in 2026-03`;
    expect(await alerts(scene, yaml)).toEqual([
      `(${budget} 100%): ${because}`,
      `(${budget} 50%): ${because}`,
      `(${budget} 80%): ${because}`,
    ]);
    scene.clock.advance(Date.parse('2026-04-01T00:00:01Z') - scene.clock.now().getTime());
    expect(await alerts(scene, yaml.replace('per_month: 2', 'per_month: 100'))).toEqual([]);
  });
});
