/** The forecast of spending from the costs of firings: days, tags, and the days on which limits are reached. */
import { describe, expect, it } from 'vitest';
import type { ScheduledCost } from '../../src/plan/forecast/scheduled-points.ts';
import { type PeriodBudget, spendingForecast } from '../../src/plan/forecast/spending-forecast.ts';

const NOW = new Date('2026-01-30T12:00:00Z');
const UNTIL = new Date('2026-02-02T12:00:00Z');

/** A sync that costs this much at noon plus an hour of each day. */
const daily = (sync: string, points: number, tags = {}): ScheduledCost => ({
  sync,
  endpoint: 'pronet.group',
  tags,
  firings: ['2026-01-30', '2026-01-31', '2026-02-01'].map((day) => ({
    at: new Date(`${day}T13:00:00Z`),
    questions: 2,
    low: points / 2,
    likely: points,
    high: points * 2,
  })),
  once: [],
  confidence: 'good',
});

const forecast = (costs: readonly ScheduledCost[], budgets: readonly PeriodBudget[] = [], points?: number) =>
  spendingForecast({
    now: NOW,
    until: UNTIL,
    costs,
    balance: points === undefined ? null : { points, at: '2026-01-30T11:00:00Z', keep: 10 },
    budgets,
  });

const budget = (over: Partial<PeriodBudget>): PeriodBudget => ({
  budget: 'budget.per_month',
  period: '2026-01',
  limit: 100,
  spent: 0,
  tag: undefined,
  ...over,
});

describe('the forecast of spending', () => {
  it('has the points of each sync and of each day, also of days without a firing', () => {
    const { total, syncs, days } = forecast([daily('a', 4), daily('b', 1)]);
    expect(total).toEqual({ low: 7.5, likely: 15, high: 30 });
    expect(syncs).toMatchObject([
      { sync: 'a', firings: 3, questions: 6, likely: 12 },
      { sync: 'b', firings: 3, questions: 6, likely: 3 },
    ]);
    expect(days).toEqual([
      { date: '2026-01-30', low: 2.5, likely: 5, high: 10, leftAtLeast: null, leftLikely: null },
      { date: '2026-01-31', low: 2.5, likely: 5, high: 10, leftAtLeast: null, leftLikely: null },
      { date: '2026-02-01', low: 2.5, likely: 5, high: 10, leftAtLeast: null, leftLikely: null },
      { date: '2026-02-02', low: 0, likely: 0, high: 0, leftAtLeast: null, leftLikely: null },
    ]);
  });

  it('says when the points to keep are reached, and what each day leaves', () => {
    const { days, balance } = forecast([daily('a', 5)], [], 24);
    expect(days.map(({ leftLikely, leftAtLeast }) => [leftLikely, leftAtLeast])).toEqual([
      [19, 14],
      [14, 4],
      [9, -6],
      [9, -6],
    ]);
    // 14 points may be spent: exactly reached is not exceeded.
    expect(balance).toMatchObject({ points: 24, keep: 10, earliest: '2026-01-31', likely: '2026-02-01' });
    expect(forecast([daily('a', 7)], [], 24).balance).toMatchObject({ earliest: '2026-01-31', likely: '2026-02-01' });
    expect(forecast([daily('a', 1)], [], 24).balance).toMatchObject({ earliest: null, likely: null });
  });

  it('a budget begins anew with each month, and counts what was spent only in the current one', () => {
    const ends = (over: Partial<PeriodBudget>) => {
      const { earliest, likely } = forecast([daily('a', 5)], [budget(over)]).budgets[0] ?? {};
      return [earliest, likely];
    };
    expect(ends({ spent: 91 })).toEqual(['2026-01-30', '2026-01-31']);
    expect(ends({ spent: 90 })).toEqual(['2026-01-31', null]);
    expect(ends({ spent: 100 })).toEqual(['2026-01-30', '2026-01-30']);
    // Each month alone is within the limit.
    expect(ends({ limit: 20 })).toEqual([null, null]);
    expect(ends({ limit: 9 })).toEqual(['2026-01-30', '2026-01-31']);
    expect(ends({ budget: 'budget.per_day', period: '2026-01-30', limit: 9, spent: 5 })).toEqual([
      '2026-01-30',
      '2026-01-30',
    ]);
    expect(ends({ budget: 'budget.per_day', period: '2026-01-30', limit: 9 })).toEqual(['2026-01-30', null]);
  });

  it('a budget of a tag counts the syncs with the tag, and sums by tag are separate', () => {
    const costs = [daily('a', 5, { team: 'x' }), daily('b', 1, { team: 'y', purpose: 'p' }), daily('c', 9)];
    const of = (value: string) => budget({ budget: `of ${value}`, limit: 5, tag: { name: 'team', value } });
    const { tags, budgets } = forecast(costs, [of('x'), of('y')]);
    expect(tags.map(({ tag, value, likely }) => [tag, value, likely])).toEqual([
      ['team', 'x', 15],
      ['team', 'y', 3],
      ['purpose', 'p', 3],
    ]);
    expect(budgets.map(({ likely }) => likely)).toEqual(['2026-01-31', null]);
  });

  it('a sync that nothing fires costs nothing', () => {
    const idle = { ...daily('idle', 5), firings: [], once: daily('idle', 5).firings.slice(0, 1) };
    expect(forecast([idle])).toMatchObject({ total: { likely: 0 }, syncs: [{ sync: 'idle', firings: 0, likely: 0 }] });
  });
});
