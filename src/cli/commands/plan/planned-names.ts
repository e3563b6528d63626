/** The syncs that `sluice plan` covers. */
import type { Config } from '../../../config/definition.ts';
import type { PlanOptions } from '../../../flow/prepare/plan-hash.ts';
import { NO_DAYS, selectSyncsWithDays } from '../../../plan/order.ts';
import type { Context } from '../../context.ts';

/**
 * The names of the syncs that `sluice sync` would run with these names and options. Warns about syncs that `--from` and
 * `--to` leave out. Throws a UsageError for an unknown name, and if the days have no effect on a named sync.
 */
export function plannedNames(
  { log }: Pick<Context, 'log'>,
  { syncs }: Pick<Config, 'syncs'>,
  names: readonly string[],
  options: Pick<PlanOptions, 'from' | 'to'>,
): readonly string[] {
  const { selected, leftOut } = selectSyncsWithDays(syncs, names, options);
  for (const sync of leftOut) log.warn(NO_DAYS, { sync });
  return selected.map(({ name }) => name);
}
