/** Which limits in points hold for an invocation, and for one sync of it. */
import type { Budget, SyncDefinition } from '../../config/definition.ts';
import { type BalanceLimit, bothBudgets, type Limit, type MeteredBudget, openBudget } from './local-budget.ts';
import {
  dayCounter,
  ensureCounter,
  ensureDayCounter,
  ensureTotalCounter,
  openSharedBudget,
  type SharedLimit,
} from './shared-budget.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface BudgetEffects extends RetryEffects {
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
): Promise<MeteredBudget> {
  const limits: Limit[] = [];
  if (maxPoints !== undefined) limits.push({ what: '--max-points', points: maxPoints, spent: 0 });
  if (perRun !== undefined) limits.push({ what: 'budget.per_run', points: perRun, spent: 0 });
  const own = openBudget(limits);

  const dayLimits = perDay === undefined ? none : openDayLimits(warehouse, perDay, effects.now);
  const balance = keep === undefined ? undefined : openBalanceLimit(warehouse, keep, effects);
  if (perDay === undefined && !balance) return own;
  const limitsNow = async (isGone: boolean): Promise<readonly SharedLimit[]> => [
    ...(await dayLimits(isGone)),
    ...((await balance?.limits(isGone)) ?? []),
  ];
  await retryTransient(() => limitsNow(false), effects);
  const shared = openSharedBudget(warehouse, limitsNow, (work) => retryTransient(work, effects));
  return bothBudgets(own, { ...shared, ...(balance && { balance }) });
}

/** The limits that hold by now; told when a row that counts for them was found gone. */
type LimitsNow = (isGone: boolean) => Promise<readonly SharedLimit[]>;
const none: LimitsNow = async () => [];

/** A call counts on the day on which it is made; a run that goes on past midnight (UTC) has the next day's points. */
function openDayLimits(warehouse: Warehouse, points: number, now: () => Date): LimitsNow {
  let entered: string | undefined;
  return async (isGone) => {
    const day = now().toISOString().slice(0, 10);
    if (isGone || day !== entered) await ensureDayCounter(warehouse, day, warehouse.kind === 'embedded');
    entered = day;
    return [{ what: 'budget.per_day', points, counter: dayCounter(day), baseline: 0 }];
  };
}

/** No limit until the balance is known: then nothing is bought, see `points-meter.ts`. */
function openBalanceLimit(
  warehouse: Warehouse,
  keep: number,
  effects: RetryEffects,
): BalanceLimit & { readonly limits: LimitsNow } {
  let limit: SharedLimit | undefined;
  const limitAt = async (points: number, outstanding: number): Promise<SharedLimit> => {
    const { row: counter, points: counted } = await retryTransient(() => ensureTotalCounter(warehouse), effects);
    const what = `the balance of ${points} points less budget.keep`;
    return { what, points: points - keep, counter, baseline: counted - outstanding };
  };
  return {
    isKnown: () => limit !== undefined,
    set: async (points, outstanding) => {
      limit = await limitAt(points, outstanding);
    },
    lower: async (points, outstanding) => {
      const lower = await limitAt(points, outstanding);
      if (limit && lower.points + lower.baseline < limit.points + limit.baseline) limit = lower;
    },
    limits: async (isGone) => {
      if (isGone) await ensureTotalCounter(warehouse);
      return limit ? [limit] : [];
    },
  };
}

/**
 * The guard for one sync: its own limit, and all that hold for the invocation. What an earlier invocation spent on the
 * same run doesn't count, or a run that reached its limit could never be continued.
 */
export function syncBudget({ budgetPerRun }: SyncDefinition, invocation: MeteredBudget): MeteredBudget {
  if (budgetPerRun === undefined) return invocation;
  const own = openBudget([{ what: 'the budget of this sync per run', points: budgetPerRun, spent: 0 }]);
  return bothBudgets(own, invocation);
}

/** The row that counts what the workers of a shared run spend on it together. */
export const sharedRunCounter = ({ runId, token }: { readonly runId: string; readonly token: string }): string =>
  // Like any other, a run that is continued may spend its limit anew.
  `run:${runId}:${token}`;

/** The guard for one chunk: what limits a run is counted for all its workers together. */
export async function chunkBudget(
  warehouse: Warehouse,
  { perRun, ...shared }: Budget,
  { budgetPerRun }: Pick<SyncDefinition, 'budgetPerRun'>,
  order: Parameters<typeof sharedRunCounter>[0],
  effects: BudgetEffects,
): Promise<MeteredBudget> {
  const invocation = await invocationBudget(warehouse, shared, undefined, effects);
  const ofRun = { what: 'budget.per_run', points: perRun ?? Number.POSITIVE_INFINITY };
  const ofSync = { what: 'the budget of this sync per run', points: budgetPerRun ?? Number.POSITIVE_INFINITY };
  const least = ofSync.points <= ofRun.points ? ofSync : ofRun;
  if (least.points === Number.POSITIVE_INFINITY) return invocation;
  const counter = sharedRunCounter(order);
  let isEntered = false;
  const limitsNow: LimitsNow = async (isGone) => {
    if (isGone || !isEntered) await ensureCounter(warehouse, counter);
    isEntered = true;
    return [{ ...least, counter, baseline: 0 }];
  };
  return bothBudgets(
    openSharedBudget(warehouse, limitsNow, (work) => retryTransient(work, effects)),
    invocation,
  );
}
