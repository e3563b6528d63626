/** What schedules will spend: by day, sync and tag, with the days on which the balance and the budgets end. Pure. */
import { addDays, dayOf } from '../../day.ts';
import type { Confidence } from '../pricing/price-book.ts';
import { type PointsRange, type ScheduledCost, sumOfRanges } from './scheduled-points.ts';

/** The expected points of a sync in the time of a forecast. */
export interface ForecastSync extends PointsRange {
  readonly sync: string;
  readonly endpoint: string;
  /** 0 if no schedule fires it. */
  readonly firings: number;
  readonly questions: number;
  readonly confidence: Confidence;
}

/** The expected points of one UTC day. */
export interface ForecastDay extends PointsRange {
  readonly date: string;
  /** Points left at the end of the day, if the costs are high or likely; null if the balance is unknown. */
  readonly leftAtLeast: number | null;
  readonly leftLikely: number | null;
}

export interface ForecastTag extends PointsRange {
  readonly tag: string;
  readonly value: string;
}

/** The days on which a limit is reached; null if it is not reached within the forecast. */
export interface LimitDays {
  /** If the costs are high. */
  readonly earliest: string | null;
  readonly likely: string | null;
}

/** A budget of a day or a month, and when it ends. */
export interface ForecastBudget extends LimitDays {
  /** The key of the config, such as `budget.per_month`. */
  readonly budget: string;
  readonly limit: number;
}

export interface ForecastBalance extends LimitDays {
  readonly points: number;
  /** When the log showed it. */
  readonly at: string;
  /** Points that are never spent; 0 without `budget.keep`. */
  readonly keep: number;
}

export interface SpendingForecast {
  readonly from: string;
  readonly until: string;
  readonly total: PointsRange;
  readonly syncs: readonly ForecastSync[];
  readonly days: readonly ForecastDay[];
  /** Sums by tag; a sync with several tags is in several sums. */
  readonly tags: readonly ForecastTag[];
  readonly balance: ForecastBalance | null;
  readonly budgets: readonly ForecastBudget[];
}

/** A limit in points for each day or month, and what is spent of the current one. */
export interface PeriodBudget {
  readonly budget: string;
  /** The current day or month, `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly limit: number;
  readonly spent: number;
  /** The tag of the syncs that count; undefined for all. */
  readonly tag: { readonly name: string; readonly value: string } | undefined;
}

/** The values for a forecast. */
export interface ForecastInput {
  readonly now: Date;
  readonly until: Date;
  readonly costs: readonly ScheduledCost[];
  /** Null if the warehouse does not know it. */
  readonly balance: Pick<ForecastBalance, 'points' | 'at' | 'keep'> | null;
  readonly budgets: readonly PeriodBudget[];
}

/** Returns the forecast. Limits do not reduce the expected points: it shows what the schedules would need. */
export function spendingForecast({ now, until, costs, balance, budgets }: ForecastInput): SpendingForecast {
  const dates = datesBetween(now, until);
  const byDay = dailyPoints(costs, dates);
  return {
    from: now.toISOString(),
    until: until.toISOString(),
    total: sumOfRanges(byDay),
    syncs: costs.map(({ sync, endpoint, firings, confidence }) => ({
      sync,
      endpoint,
      firings: firings.length,
      questions: firings.reduce((sum, it) => sum + it.questions, 0),
      ...sumOfRanges(firings),
      confidence,
    })),
    days: daysWithBalance(byDay, balance),
    tags: tagForecasts(costs),
    balance: balance && { ...balance, ...reached(byDay, () => balance.points - balance.keep) },
    budgets: budgets.map(({ budget, period, limit, spent, tag }) => {
      const counted = tag ? costs.filter(({ tags }) => tags[tag.name] === tag.value) : costs;
      const periodOf = (date: string): string => date.slice(0, period.length);
      const allowed = (date: string): number => (periodOf(date) === period ? limit - spent : limit);
      return { budget, limit, ...reached(dailyPoints(counted, dates), allowed, periodOf) };
    }),
  };
}

interface DatedPoints extends PointsRange {
  readonly date: string;
}

function datesBetween(from: Date, until: Date): readonly string[] {
  const dates: string[] = [];
  for (let date = dayOf(from); date <= dayOf(until); date = addDays(date, 1)) dates.push(date);
  return dates;
}

function dailyPoints(costs: readonly ScheduledCost[], dates: readonly string[]): readonly DatedPoints[] {
  const byDate = Map.groupBy(
    costs.flatMap(({ firings }) => firings),
    ({ at }) => dayOf(at),
  );
  return dates.map((date) => ({ date, ...sumOfRanges(byDate.get(date) ?? []) }));
}

function daysWithBalance(days: readonly DatedPoints[], balance: ForecastInput['balance']): readonly ForecastDay[] {
  let [likely, most] = [0, 0];
  return days.map((day) => {
    likely += day.likely;
    most += day.high;
    return {
      ...day,
      leftAtLeast: balance && Math.floor(balance.points - most),
      leftLikely: balance && Math.round(balance.points - likely),
    };
  });
}

function tagForecasts(costs: readonly ScheduledCost[]): readonly ForecastTag[] {
  const tagged = costs.flatMap(({ tags, firings }) =>
    Object.entries(tags).map(([tag, value]) => ({ tag, value, firings })),
  );
  return [...Map.groupBy(tagged, ({ tag, value }) => `${tag}=${value}`).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return { tag: first.tag, value: first.value, ...sumOfRanges(group.flatMap(({ firings }) => firings)) };
  });
}

/**
 * The first days on which the points of a period exceed what is allowed in it. Without `periodOf`, all days are one
 * period.
 */
function reached(
  days: readonly DatedPoints[],
  allowed: (date: string) => number,
  periodOf: (date: string) => string = () => '',
): LimitDays {
  let [earliest, likely]: (string | null)[] = [null, null];
  let current = { period: '', likely: 0, high: 0 };
  for (const day of days) {
    const period = periodOf(day.date);
    if (period !== current.period) current = { period, likely: 0, high: 0 };
    current.likely += day.likely;
    current.high += day.high;
    if (current.high > allowed(day.date)) earliest ??= day.date;
    if (current.likely > allowed(day.date)) likely ??= day.date;
  }
  return { earliest: earliest ?? null, likely: likely ?? null };
}
