/** Decides which alerts about budgets are active: shares that are spent, and months that will end too early. Pure. */
import type { BudgetUse } from '../control/budget/budget-use.ts';
import { DAY_MS } from '../day.ts';
import type { AlertCondition } from './store.ts';

/** Shares of a limit, in percent, that raise an alert of their own. */
const SHARES = [50, 80, 100] as const;

/** The conditions of each limit. A limit begins anew with its period, and then its alerts are cleared. */
export const budgetConditions = (uses: readonly BudgetUse[], now: Date): AlertCondition[] =>
  uses.flatMap((use) => [
    ...SHARES.map((share) => shareCondition(use, share)),
    ...(use.period.length === MONTH ? [forecastBreach(use, now)] : []),
  ]);

/** Characters of YYYY-MM. */
const MONTH = 7;

function shareCondition({ budget, period, limit, spent }: BudgetUse, share: number): AlertCondition {
  const isRaised = spent >= (limit * share) / 100 && (spent > 0 || limit === 0);
  return {
    kind: 'budget',
    sync: `(${budget} ${share}%)`,
    isRaised,
    because: `${rounded(spent)} of the ${limit} points of ${budget} are spent in ${period}`,
    next:
      isRaised && share === 100
        ? 'The remaining requests of its syncs stay planned. Raise the limit in the config, or wait for the next period.'
        : null,
    runId: null,
  };
}

function forecastBreach({ budget, period, limit, spent, spentPerDay, until }: BudgetUse, now: Date): AlertCondition {
  const daysLeft = Math.max(0, until.getTime() - now.getTime()) / DAY_MS;
  const expected = spent + spentPerDay * daysLeft;
  const isRaised = spent < limit && expected > limit;
  const endsOn = new Date(now.getTime() + ((limit - spent) / Math.max(spentPerDay, Number.MIN_VALUE)) * DAY_MS);
  return {
    kind: 'budget',
    sync: `(${budget} forecast)`,
    isRaised,
    because: isRaised
      ? `at the rate of the last 7 days, the ${limit} points of ${budget} for ${period} end on ${endsOn.toISOString().slice(0, 10)}`
      : `at the rate of the last 7 days, ${rounded(expected)} of the ${limit} points of ${budget} are spent in ${period}`,
    next: isRaised ? 'See sluice plan --for 30d and sluice costs --tune.' : null,
    runId: null,
  };
}

const rounded = (points: number): number => Math.round(points * 10) / 10;
