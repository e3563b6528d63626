/** Compares a saved plan with the warehouse before anything is sent. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { newestAnswerId } from '../../ledger/answers.ts';
import { planChanges } from '../../plan/saved/plan-changes.ts';
import type { SavedPlan } from '../../plan/saved/saved-plan.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { quoteSyncs } from '../forecast/quote-syncs.ts';
import type { ExpectedPlan } from './expected-plan.ts';
import { makeSavedPlan } from './save-plan.ts';

/** The options of a saved plan. */
export const savedOptions = ({ refresh, from, to, limit }: SavedPlan) => ({
  refresh,
  from: from ?? undefined,
  to: to ?? undefined,
  limit: limit ?? undefined,
});

/**
 * Returns what the runs of a saved plan must have, by sync. Throws a UsageError that says what moved since the plan was
 * made.
 */
export async function assertPlanHolds(
  warehouse: Warehouse,
  config: Config,
  saved: SavedPlan,
  now: Date,
): Promise<ReadonlyMap<string, ExpectedPlan>> {
  const horizon = await newestAnswerId(operationsOf(warehouse));
  const known = saved.syncs.map(({ sync }) => sync).filter((name) => config.syncs.some((it) => it.name === name));
  const options = savedOptions(saved);
  const quoted = known.length === 0 ? [] : await quoteSyncs(warehouse, config, known, options, now);
  const changes = planChanges(saved, await makeSavedPlan(warehouse, config, quoted, options, now));
  if (changes.length > 0)
    throw new UsageError(
      `the plan of ${saved.madeAt} is no longer valid\n${changes.map((it) => `  ${it}`).join('\n')}`,
      {
        next: 'Nothing was sent. Make a new plan with sluice plan --output FILE, and review it.',
      },
    );
  return new Map(saved.syncs.map((it) => [it.sync, { ...it, horizon }]));
}
