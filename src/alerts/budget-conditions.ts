/** Decides which alerts about budgets are active: shares that are spent, and months that will end too early. Pure. */
import type { BudgetUse } from '../control/budget/budget-use.ts';
import { DAY_MS, dayOf } from '../day.ts';
import type { AlertCondition } from './store.ts';

/** Shares of a limit, in percent, that raise an alert of their own. */
const SHARES = [50, 80, 100] as const;

/** The expected points of a sync at each firing. */
export interface ScheduledPoints {
  readonly tags: Readonly<Record<string, string>>;
  readonly firings: readonly { readonly at: Date; readonly likely: number }[];
}

/** The shares of each limit that are spent. A limit begins anew with its period, and then its alerts are cleared. */
export const shareConditions = (uses: readonly BudgetUse[]): AlertCondition[] =>
  uses.flatMap((use) => SHARES.map((share) => shareCondition(use, share)));

/** The limits of a month that end early: by the schedules of their syncs, or if these have none, at the current rate. */
export const breachConditions = (
  uses: readonly BudgetUse[],
  now: Date,
  scheduled: readonly ScheduledPoints[],
): AlertCondition[] => uses.filter(isMonth).map((use) => forecastBreach(use, now, scheduled));

/** True for a limit of a month. */
export const isMonth = ({ period }: BudgetUse): boolean => period.length === MONTH;

/** Characters of YYYY-MM. */
const MONTH = 7;

function shareCondition({ budget, period, from, limit, spent }: BudgetUse, share: number): AlertCondition {
  const isRaised = spent >= (limit * share) / 100 && (spent > 0 || limit === 0);
  return {
    kind: 'budget',
    sync: `(${budget} ${share}%)`,
    isRaised,
    because: `${isRaised ? 'at least' : 'less than'} ${share} % of the points of ${budget} are spent in ${period}: ${rounded(spent)} of ${limit}`,
    next:
      isRaised && share === 100
        ? 'The remaining requests of its syncs stay planned. Raise the limit in the config, or wait for the next period.'
        : null,
    runId: null,
    from,
  };
}

/** The end of a month at a rate or by the schedules. */
interface Expectation {
  /** How it was found, in words. */
  readonly by: string;
  readonly points: number;
  /** The day on which the limit is reached; undefined if that is after the period. */
  readonly endsOn: string | undefined;
}

function forecastBreach(use: BudgetUse, now: Date, scheduled: readonly ScheduledPoints[]): AlertCondition {
  const { budget, period, from, limit, spent } = use;
  const { by, points, endsOn } = bySchedules(use, now, scheduled) ?? byRate(use, now);
  const isRaised = spent < limit && endsOn !== undefined;
  return {
    kind: 'budget',
    sync: `(${budget} forecast)`,
    isRaised,
    because: isRaised
      ? `${by}, the ${limit} points of ${budget} for ${period} end on ${endsOn}`
      : `${by}, ${rounded(points)} of the ${limit} points of ${budget} are spent in ${period}`,
    next: isRaised ? 'See sluice plan --for 30d and sluice costs --tune.' : null,
    runId: null,
    from,
  };
}

/** What the firings up to the end of the period will cost; undefined if no schedule fires a sync of the limit. */
function bySchedules(
  { spent, limit, until, tag }: BudgetUse,
  now: Date,
  scheduled: readonly ScheduledPoints[],
): Expectation | undefined {
  const counted = tag ? scheduled.filter(({ tags }) => tags[tag.name] === tag.value) : scheduled;
  const firings = counted.flatMap((it) => it.firings).toSorted((a, b) => a.at.getTime() - b.at.getTime());
  if (firings.length === 0) return undefined;
  let points = spent;
  let endsOn: string | undefined;
  for (const { at, likely } of firings.filter((firing) => firing.at > now && firing.at < until)) {
    points += likely;
    if (points > limit) endsOn ??= dayOf(at);
  }
  return { by: 'by the forecast of the schedules', points, endsOn };
}

function byRate({ spent, limit, spentPerDay, until }: BudgetUse, now: Date): Expectation {
  const daysLeft = Math.max(0, until.getTime() - now.getTime()) / DAY_MS;
  const points = spent + spentPerDay * daysLeft;
  const endsAt = now.getTime() + ((limit - spent) / Math.max(spentPerDay, Number.MIN_VALUE)) * DAY_MS;
  return {
    by: 'at the rate of the last 7 days',
    points,
    endsOn: points > limit ? dayOf(new Date(endsAt)) : undefined,
  };
}

const rounded = (points: number): number => Math.round(points * 10) / 10;
