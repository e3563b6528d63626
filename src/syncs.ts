/** All syncs of a config, one after the other. */
import { exitCodeOf } from './errors.ts';
import type { Config, SyncDefinition } from './config/definition.ts';
import { invocationBudget } from './control/budget/budget.ts';
import { checkQueries, queriesOf } from './flow/queries/check-queries.ts';
import { openStatistics } from './flow/run/analyze-tables.ts';
import { chargedSummaries } from './flow/points/charged-summaries.ts';
import { notStartedSummary, stoppedSummary, worstExitCode } from './flow/run/failed-summary.ts';
import { type FlowEffects, openInvocation } from './flow/run/invocation.ts';
import type { RunStop } from './flow/run/stop-controller.ts';
import type { SyncOptions } from './flow/run/sync-run.ts';
import { unfinishedParent } from './flow/run/unfinished-parent.ts';
import { assertPlanHolds, savedOptions } from './flow/saved-plan/assert-plan.ts';
import type { EarlierPoints } from './ledger/log-costs.ts';
import type { Summary, SyncSummary } from './ledger/summary.ts';
import { NO_DAYS, selectSyncsWithDays } from './plan/order.ts';
import type { SavedPlan } from './plan/saved/saved-plan.ts';
import { runSync } from './sync.ts';
import type { Warehouse } from './warehouse/connect/connect.ts';
import { retryTransient, toUserError } from './warehouse/connect/retry-transient.ts';

/**
 * Runs the syncs of a config, parents first, and returns the summary of each. Throws a SluiceError only for what stops
 * all of them, such as a saved plan that is no longer valid; the summary shows a sync that fails. When the signal aborts,
 * nothing new is sent, and answers of calls in flight are stored.
 */
export async function runSyncs(
  config: Config,
  warehouse: Warehouse,
  given: SyncOptions,
  effects: FlowEffects,
  signal: AbortSignal,
): Promise<Summary> {
  const startedAt = effects.now();
  const { plan } = given;
  const expected = plan && (await retryTransient(() => assertPlanHolds(warehouse, config, plan, startedAt), effects));
  const options = plan ? planned(given, plan) : given;
  const definitions = await chosenSyncs(config, warehouse, options, effects);
  const limits = { maxPoints: options.maxPoints, planPoints: plan?.most, cap: options.cap?.budget };
  const budget = await invocationBudget(warehouse, config.budget, limits, effects).catch((error: unknown) => {
    throw toUserError(error);
  });
  const syncs: SyncSummary[] = [];
  let ended: RunStop | undefined;
  const onStop = (stop: RunStop): void => {
    if (stop.forAll) ended = stop;
  };
  const continued = new Map<string, EarlierPoints>();
  const statistics = openStatistics(warehouse, effects.onNotice);
  const invocation = await openInvocation(config, warehouse, effects);
  try {
    for (const definition of definitions) {
      const parent = unfinishedParent(definition, definitions, syncs);
      if (ended) syncs.push(notStartedSummary(definition, exitCodeOf(ended.reason), ended.because));
      else if (signal.aborted) syncs.push(stoppedSummary(definition));
      else if (parent) syncs.push(notStartedSummary(definition, parent.exitCode, waitsFor(parent)));
      else {
        const run = {
          definition,
          options: { ...options, invokedAt: startedAt },
          budget,
          rowCounter: statistics,
          onStop,
          onContinued: (runId: string, earlier: EarlierPoints) => void continued.set(runId, earlier),
          expected: expected?.get(definition.name),
        };
        const summary = await runSync(invocation, run, signal);
        if (summary !== 'shared') syncs.push(summary);
      }
    }
  } finally {
    await options.cap?.endInvocation(warehouse, startedAt);
    await invocation.close();
  }
  await statistics.finish(signal);
  const charged = await chargedSummaries(warehouse, syncs, continued);
  return { exitCode: worstExitCode(syncs), syncs: charged, tookMs: effects.now().getTime() - startedAt.getTime() };
}

/** The syncs to run, parents first, once the database has accepted their queries. */
async function chosenSyncs(
  config: Config,
  warehouse: Warehouse,
  options: SyncOptions,
  effects: FlowEffects,
): Promise<readonly SyncDefinition[]> {
  // A plan may have no sync, and no names select all.
  const named = options.plan?.syncs.length === 0 ? [] : config.syncs;
  const { selected, leftOut } = selectSyncsWithDays(named, options.names, options);
  for (const sync of leftOut) effects.onNotice({ level: 'warn', sync, message: NO_DAYS });
  if (selected.some((definition) => queriesOf(definition).length > 0))
    await retryTransient(() => checkQueries(warehouse, selected), effects);
  return selected;
}

const waitsFor = ({ sync }: SyncSummary): string => `${sync} did not finish, and the query reads what it loads`;

/** The options for the syncs of a saved plan. */
const planned = (options: SyncOptions, plan: SavedPlan): SyncOptions => ({
  ...options,
  ...savedOptions(plan),
  names: plan.syncs.map(({ sync }) => sync),
});
