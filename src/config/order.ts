/** Sorts syncs topologically: parents before children. */
import { UsageError } from '../errors.ts';
import type { SyncDefinition } from './definition.ts';

/**
 * The syncs, parents first, otherwise in the given order. Only `after` makes a parent. A query on a table that another
 * sync fills reads the current rows, unless `after` makes it wait.
 */
export function orderSyncs<S extends Pick<SyncDefinition, 'name' | 'after'>>(syncs: readonly S[]): S[] {
  const ordered = orderNames(new Map(syncs.map(({ name, after }) => [name, after])));
  if ('cycle' in ordered) throw new UsageError(`the syncs form a cycle: ${ordered.cycle.join(' after ')}`);
  return ordered.order.flatMap((name) => syncs.filter((it) => it.name === name));
}

export type Ordered = { readonly order: readonly string[] } | { readonly cycle: readonly string[] };

/**
 * The names, parents first and otherwise in the given order. If there is a cycle, returns it instead, with its first
 * name repeated at the end. Parents that are not among the names are ignored.
 */
export function orderNames(parentsOf: ReadonlyMap<string, readonly string[]>): Ordered {
  const order: string[] = [];
  const done = new Set<string>();
  for (const name of parentsOf.keys()) {
    const cycle = visit(name, parentsOf, done, [], order);
    if (cycle) return { cycle };
  }
  return { order };
}

function visit(
  name: string,
  parentsOf: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
  trail: readonly string[],
  order: string[],
): readonly string[] | undefined {
  if (done.has(name) || !parentsOf.has(name)) return undefined;
  const begin = trail.indexOf(name);
  if (begin !== -1) return [...trail.slice(begin), name];
  for (const parent of parentsOf.get(name) ?? []) {
    const cycle = visit(parent, parentsOf, done, [...trail, name], order);
    if (cycle) return cycle;
  }
  done.add(name);
  order.push(name);
  return undefined;
}
