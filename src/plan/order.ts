/** The order in which syncs run. */
import type { SyncDefinition } from '../config/definition.ts';
import { insteadOf } from '../config/document/nearest.ts';
import { orderNames } from '../config/order.ts';
import { UsageError } from '../errors.ts';

/**
 * The syncs, parents first, otherwise in the given order. Only `after` makes a parent. A query on a table that another
 * sync fills reads the current rows, unless `after` makes it wait.
 */
export function orderSyncs<S extends Pick<SyncDefinition, 'name' | 'after'>>(syncs: readonly S[]): S[] {
  const ordered = orderNames(new Map(syncs.map(({ name, after }) => [name, after])));
  if ('cycle' in ordered) throw new UsageError(`the syncs form a cycle: ${ordered.cycle.join(' after ')}`);
  return ordered.order.flatMap((name) => syncs.filter((it) => it.name === name));
}

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
  return orderSyncs(names.length === 0 ? syncs : syncs.filter(({ name }) => names.includes(name)));
}
