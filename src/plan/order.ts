/** The order in which syncs run. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { insteadOf } from '../config/document/nearest.ts';
import { orderSyncs } from '../config/order.ts';
import { UsageError } from '../errors.ts';
import { hasFixedTimes } from './plan.ts';

/**
 * The syncs with these names, or all syncs if `names` is empty; parents first. Throws a UsageError for an unknown name.
 */
export function selectSyncs<S extends Pick<SyncDefinition, 'name' | 'after'>>(
  syncs: readonly S[],
  names: readonly string[],
): S[] {
  const known = syncs.map(({ name }) => name);
  for (const name of names) {
    if (!known.includes(name))
      throw new UsageError(`${JSON.stringify(name)} is not a sync of this config${insteadOf(name, known)}`, {
        next: 'Name syncs of the config, or name none to select all.',
      });
  }
  // Ordered before they are selected: a grandparent comes first too if the parent between is not selected.
  const ordered = orderSyncs(syncs);
  return names.length === 0 ? ordered : ordered.filter(({ name }) => names.includes(name));
}

/** The syncs of a run, and the names of those that its days leave out. */
interface SyncsWithDays<S> {
  readonly selected: readonly S[];
  readonly leftOut: readonly string[];
}

/** Why a run with `--from` or `--to` leaves a sync out. */
export const NO_DAYS = 'left out, because --from and --to have no effect on its requests';

/**
 * The syncs with these names, or all syncs that take the days of the run if `names` is empty; parents first. Throws a
 * UsageError for an unknown name, for a named sync that takes no days, and if no sync takes days.
 */
export function selectSyncsWithDays<
  S extends Pick<SyncDefinition, 'name' | 'after' | 'endpoint' | 'window' | 'request' | 'forEach'>,
>(
  syncs: readonly S[],
  names: readonly string[],
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): SyncsWithDays<S> {
  const all = selectSyncs(syncs, names);
  if (from === undefined && to === undefined) return { selected: all, leftOut: [] };
  const selected = all.filter(takesDays);
  const leftOut = all.filter((it) => !takesDays(it)).map(({ name }) => name);
  if (leftOut.length > 0 && (names.length > 0 || selected.length === 0))
    throw new UsageError(
      `--from and --to have no effect on ${leftOut.join(', ')}; allowed is a sync with a window, or one of the request log without fixed times`,
      { next: 'Leave out --from and --to, or name other syncs.' },
    );
  return { selected, leftOut };
}

/** True if `--from` and `--to` change the requests of a sync. A sync of the log with fixed times keeps them. */
const takesDays = ({
  endpoint: { paging },
  window,
  request,
  forEach,
}: Pick<SyncDefinition, 'endpoint' | 'window' | 'request' | 'forEach'>): boolean =>
  paging.by === 'cursor' ? !hasFixedTimes(request) && forEach?.some(fixesTimes) !== true : window !== undefined;

/** True if each input of a source sets the times of the log; only the content of a file or query may say more. */
const fixesTimes = (source: InputSource): boolean =>
  source.from === 'list' ? source.rows.every(hasFixedTimes) : hasFixedTimes({ [source.field ?? '']: '' });
