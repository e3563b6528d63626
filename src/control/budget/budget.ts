/** Chooses the limits in points for an invocation, and for one sync of it. */
import type { Budget, SyncDefinition } from '../../config/definition.ts';
import { type BalanceLimit, bothBudgets, type Limit, type MeteredBudget, openBudget } from './local-budget.ts';
import {
  limitsOfTags,
  periodAt,
  periodCounter,
  type PeriodLimit,
  periodLimits,
  type SpendingPeriod,
} from './spending-period.ts';
import { type LimitsNow, openSharedBudget, type SharedLimit } from './shared-budget.ts';
import { ensureCounter, ensurePeriodCounter, ensureTotalCounter } from './spending-counters.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface BudgetEffects extends RetryEffects {
  readonly now: () => Date;
}

/** Limits in points that a command sets; an absent one means no limit. */
export interface InvocationLimits {
  readonly maxPoints?: number | undefined;
  /** The most that a saved plan promises. */
  readonly planPoints?: number | undefined;
  /** The limit of all invocations of this process together. */
  readonly cap?: MeteredBudget | undefined;
}

/**
 * Creates a guard for all syncs of an invocation together. Limits per run and per invocation are counted in this
 * process; the limits of a day and of the balance are shared with all processes on the warehouse.
 */
export async function invocationBudget(
  warehouse: Warehouse,
  { perRun, perDay, perMonth, keep, tags = [] }: Budget,
  { maxPoints, planPoints, cap }: InvocationLimits,
  effects: BudgetEffects,
): Promise<MeteredBudget> {
  const limits: Limit[] = [];
  if (planPoints !== undefined) limits.push({ what: 'the most of the saved plan', points: planPoints, spent: 0 });
  if (maxPoints !== undefined) limits.push({ what: '--max-points', points: maxPoints, spent: 0 });
  if (perRun !== undefined) limits.push({ what: 'budget.per_run', points: perRun, spent: 0 });
  const own = cap ? bothBudgets(cap, openBudget(limits)) : openBudget(limits);

  // Until this process has a lease, the counters of tags can follow the ledger.
  const limitsOfAllTags = openPeriodLimits(warehouse, limitsOfTags({ tags }), effects.now);
  if (limitsOfAllTags) await retryTransient(() => limitsOfAllTags(false), effects);
  const limitsOfPeriods = openPeriodLimits(warehouse, periodLimits({ perDay, perMonth }), effects.now);
  const balance = keep === undefined ? undefined : openBalanceLimit(warehouse, keep, effects);
  if (!limitsOfPeriods && !balance) return own;
  const limitsNow: LimitsNow = async (mustEnsure, ownLease) => [
    ...((await limitsOfPeriods?.(mustEnsure, ownLease)) ?? []),
    ...((await balance?.limits(mustEnsure)) ?? []),
  ];
  await retryTransient(() => limitsNow(false), effects);
  const shared = openSharedBudget(warehouse, limitsNow, (work) => retryTransient(work, effects));
  return bothBudgets(own, { ...shared, ...(balance && { balance }) });
}

/** Counters that this process has used, by connection. */
const usedCounters = new WeakMap<Warehouse['db'], Set<string>>();

/**
 * True for the first use of a counter in this process. Later, the counter holds points of other runs of the process that
 * the ledger lacks.
 */
function isFirstUse({ db }: Warehouse, period: SpendingPeriod): boolean {
  const counters = usedCounters.get(db) ?? new Set();
  usedCounters.set(db, counters);
  const name = periodCounter(period);
  if (counters.has(name)) return false;
  counters.add(name);
  return true;
}

/** A call counts in the period in which it is made; a run that continues past midnight (UTC) uses the next day's points. */
function openPeriodLimits(
  warehouse: Warehouse,
  periods: readonly PeriodLimit[],
  now: () => Date,
): LimitsNow | undefined {
  if (periods.length === 0) return undefined;
  let entered: ReadonlySet<string> = new Set();
  return async (mustEnsure, ownLease) => {
    const at = now();
    const current = periods.map((limit) => ({ ...limit, period: periodAt(at, limit.length, limit.tag) }));
    for (const { period } of current)
      if (mustEnsure || !entered.has(periodCounter(period)))
        await ensurePeriodCounter(
          warehouse,
          period,
          warehouse.kind === 'embedded' && isFirstUse(warehouse, period),
          ownLease,
        );
    entered = new Set(current.map(({ period }) => periodCounter(period)));
    return current.map(({ what, points, period }) => ({ what, points, counter: periodCounter(period), baseline: 0 }));
  };
}

/** There is no limit until the balance is known; until then nothing is bought, see `points-meter.ts`. */
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
    limits: async (mustEnsure) => {
      if (mustEnsure) await ensureTotalCounter(warehouse);
      return limit ? [limit] : [];
    },
  };
}

/**
 * Creates the guard for one sync: its own limit, those of its tags, and those of the invocation. Points of earlier
 * invocations of the same run do not count against its own limit. Otherwise a run that reached its limit could never be
 * continued.
 */
export async function syncBudget(
  warehouse: Warehouse,
  budget: Budget,
  { budgetPerRun, tags }: Pick<SyncDefinition, 'budgetPerRun' | 'tags'>,
  invocation: MeteredBudget,
  effects: BudgetEffects,
): Promise<MeteredBudget> {
  const tagged = await tagBudget(warehouse, budget, tags, effects);
  const all = tagged ? bothBudgets(tagged, invocation) : invocation;
  if (budgetPerRun === undefined) return all;
  return bothBudgets(openBudget([{ what: 'the budget of this sync per run', points: budgetPerRun, spent: 0 }]), all);
}

/** Creates the guard for the limits of a sync's tags; undefined if none is limited. All processes share the counts. */
async function tagBudget(
  warehouse: Warehouse,
  budget: Budget,
  tags: SyncDefinition['tags'],
  effects: BudgetEffects,
): Promise<MeteredBudget | undefined> {
  const periods = limitsOfTags(budget).filter(({ tag }) => tag && tags[tag.name] === tag.value);
  const limitsNow = openPeriodLimits(warehouse, periods, effects.now);
  if (!limitsNow) return undefined;
  await retryTransient(() => limitsNow(false), effects);
  return openSharedBudget(warehouse, limitsNow, (work) => retryTransient(work, effects));
}

/** Name of the counter of what the workers of a shared run spend together. */
export const sharedRunCounter = ({ runId, token }: { readonly runId: string; readonly token: string }): string =>
  // A continued run may spend its limit again, like other runs.
  `run:${runId}:${token}`;

/** Creates the guard for one chunk; the limits of the run are counted for all its workers together. */
export async function chunkBudget(
  warehouse: Warehouse,
  { perRun, ...shared }: Budget,
  { budgetPerRun, tags }: Pick<SyncDefinition, 'budgetPerRun' | 'tags'>,
  order: Parameters<typeof sharedRunCounter>[0],
  effects: BudgetEffects,
): Promise<MeteredBudget> {
  const all = await invocationBudget(warehouse, { ...shared, tags: [] }, {}, effects);
  const invocation = await syncBudget(warehouse, shared, { budgetPerRun: undefined, tags }, all, effects);
  const ofRun = { what: 'budget.per_run', points: perRun ?? Number.POSITIVE_INFINITY };
  const ofSync = { what: 'the budget of this sync per run', points: budgetPerRun ?? Number.POSITIVE_INFINITY };
  const least = ofSync.points <= ofRun.points ? ofSync : ofRun;
  if (least.points === Number.POSITIVE_INFINITY) return invocation;
  const counter = sharedRunCounter(order);
  let isEntered = false;
  const limitsNow: LimitsNow = async (mustEnsure) => {
    if (mustEnsure || !isEntered) await ensureCounter(warehouse, counter);
    isEntered = true;
    return [{ ...least, counter, baseline: 0 }];
  };
  return bothBudgets(
    openSharedBudget(warehouse, limitsNow, (work) => retryTransient(work, effects)),
    invocation,
  );
}
