/** Which limits in points hold for an invocation, and for one sync of it. */
import { operationsOf } from '../ops/schema.ts';
import type { Budget, SyncDefinition } from '../config/definition.ts';
import { lastBalance } from '../ops/balance.ts';
import { type BudgetGuard, type Limit, openBudget, spentAfter } from '../ops/budget.ts';
import type { Warehouse } from '../warehouse/connect.ts';

/** A guard for all syncs of an invocation together. */
export async function invocationBudget(
  warehouse: Warehouse,
  budget: Budget,
  maxPoints: number | undefined,
  now: Date,
): Promise<BudgetGuard> {
  const ops = operationsOf(warehouse);
  const limits: Limit[] = [];
  if (maxPoints !== undefined) limits.push({ what: '--max-points', points: maxPoints, spent: 0 });
  if (budget.perRun !== undefined) limits.push({ what: 'budget.per_run', points: budget.perRun, spent: 0 });
  if (budget.perDay !== undefined) {
    limits.push({
      what: 'budget.per_day',
      points: budget.perDay,
      spent: await spentAfter(ops, new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`)),
    });
  }
  const balance = budget.keep === undefined ? undefined : await lastBalance(warehouse);
  if (balance !== undefined)
    limits.push({
      what: `the balance of ${balance.points} points less budget.keep`,
      points: balance.points - (budget.keep ?? 0),
      // The log may have been read long ago.
      spent: await spentAfter(ops, balance.at),
    });
  return openBudget(limits);
}

/**
 * The guard for one sync: its own limit, and all that hold for the invocation. What an earlier invocation spent on the
 * same run doesn't count, or a run that reached its limit could never be continued.
 */
export function syncBudget({ budgetPerRun }: SyncDefinition, invocation: BudgetGuard): BudgetGuard {
  if (budgetPerRun === undefined) return invocation;
  const own = openBudget([{ what: 'the budget of this sync per run', points: budgetPerRun, spent: 0 }]);
  return {
    reserve: (points) => {
      const reached = own.reserve(points);
      if (reached) return reached;
      const other = invocation.reserve(points);
      if (other) own.giveBack(points);
      return other;
    },
    giveBack: (points) => {
      own.giveBack(points);
      invocation.giveBack(points);
    },
  };
}
