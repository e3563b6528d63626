/** Which limits in points hold for an invocation, and for one sync of it. */
import type { Budget, SyncDefinition } from '../config/definition.ts';
import { lastBalance } from '../ops/balance.ts';
import { bothBudgets, type BudgetGuard, type Limit, openBudget } from '../ops/budget.ts';
import {
  dayRow,
  enterCount,
  enterDay,
  enterEver,
  openSharedBudget,
  type SharedLimit,
  spentFrom,
} from '../ops/spending.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { type Steady, steadily } from './steady.ts';

export interface BudgetEffects extends Steady {
  readonly now: () => Date;
}

/**
 * A guard for all syncs of an invocation together. What one run or one invocation may spend is counted in this process;
 * a day and a balance are shared with every process on the warehouse.
 */
export async function invocationBudget(
  warehouse: Warehouse,
  { perRun, perDay, keep }: Budget,
  maxPoints: number | undefined,
  effects: BudgetEffects,
): Promise<BudgetGuard> {
  const limits: Limit[] = [];
  if (maxPoints !== undefined) limits.push({ what: '--max-points', points: maxPoints, spent: 0 });
  if (perRun !== undefined) limits.push({ what: 'budget.per_run', points: perRun, spent: 0 });
  const own = openBudget(limits);

  const dayLimits = perDay === undefined ? none : openDayLimits(warehouse, perDay, effects.now);
  const balanceLimits = keep === undefined ? none : openBalanceLimits(warehouse, keep);
  const limitsNow = async (isGone: boolean): Promise<readonly SharedLimit[]> => [
    ...(await dayLimits(isGone)),
    ...(await balanceLimits(isGone)),
  ];
  if ((await steadily(() => limitsNow(false), effects)).length === 0) return own;
  return bothBudgets(
    own,
    openSharedBudget(warehouse, limitsNow, (work) => steadily(work, effects)),
  );
}

/** The limits that hold by now; told when a row that counts for them was found gone. */
type LimitsNow = (isGone: boolean) => Promise<readonly SharedLimit[]>;
const none: LimitsNow = async () => [];

/** A call counts on the day on which it is made; a run that goes on past midnight (UTC) has the next day's points. */
function openDayLimits(warehouse: Warehouse, points: number, now: () => Date): LimitsNow {
  let entered: string | undefined;
  return async (isGone) => {
    const day = now().toISOString().slice(0, 10);
    if (isGone || day !== entered) await enterDay(warehouse, day, warehouse.kind === 'embedded');
    entered = day;
    return [{ what: 'budget.per_day', points, row: dayRow(day), zero: 0 }];
  };
}

/** No limit as long as the log never told a balance. */
function openBalanceLimits(warehouse: Warehouse, keep: number): LimitsNow {
  let limits: readonly SharedLimit[] | undefined;
  const limitsOf = async (): Promise<readonly SharedLimit[]> => {
    const balance = await lastBalance(warehouse);
    if (!balance) return [];
    // First where the count stands: what others set aside from then on counts in it.
    const { row, points: standing } = await enterEver(warehouse);
    // The log may have been read long ago. The request that told the balance is in it.
    const spent = await spentFrom(warehouse, new Date(balance.at.getTime() + 1));
    const what = `the balance of ${balance.points} points less budget.keep`;
    return [{ what, points: balance.points - keep, row, zero: standing - Number(spent.points) }];
  };
  return async (isGone) => {
    if (isGone || !limits) limits = await limitsOf();
    return limits;
  };
}

/**
 * The guard for one sync: its own limit, and all that hold for the invocation. What an earlier invocation spent on the
 * same run doesn't count, or a run that reached its limit could never be continued.
 */
export function syncBudget({ budgetPerRun }: SyncDefinition, invocation: BudgetGuard): BudgetGuard {
  if (budgetPerRun === undefined) return invocation;
  const own = openBudget([{ what: 'the budget of this sync per run', points: budgetPerRun, spent: 0 }]);
  return bothBudgets(own, invocation);
}

/** The row that counts what the workers of a shared run spend on it together. */
export const countOfShared = ({ runId, token }: { readonly runId: string; readonly token: string }): string =>
  // Like any other, a run that is continued may spend its limit anew.
  `run:${runId}:${token}`;

/** The guard for one chunk: what limits a run is counted for all its workers together. */
export async function chunkBudget(
  warehouse: Warehouse,
  { perRun, ...shared }: Budget,
  { budgetPerRun }: Pick<SyncDefinition, 'budgetPerRun'>,
  order: Parameters<typeof countOfShared>[0],
  effects: BudgetEffects,
): Promise<BudgetGuard> {
  const invocation = await invocationBudget(warehouse, shared, undefined, effects);
  const ofRun = { what: 'budget.per_run', points: perRun ?? Number.POSITIVE_INFINITY };
  const ofSync = { what: 'the budget of this sync per run', points: budgetPerRun ?? Number.POSITIVE_INFINITY };
  const least = ofSync.points <= ofRun.points ? ofSync : ofRun;
  if (least.points === Number.POSITIVE_INFINITY) return invocation;
  const row = countOfShared(order);
  let isEntered = false;
  const limitsNow: LimitsNow = async (isGone) => {
    if (isGone || !isEntered) await enterCount(warehouse, row);
    isEntered = true;
    return [{ ...least, row, zero: 0 }];
  };
  return bothBudgets(
    openSharedBudget(warehouse, limitsNow, (work) => steadily(work, effects)),
    invocation,
  );
}
