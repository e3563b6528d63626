/** How the syncs of a config are connected by tables: what they request, feed and read. */
import type { SyncDefinition } from '../config/definition.ts';
import type * as z from 'zod';
import { baseTablesOf, type Feed, feedsOfEndpoint, readsOfQuery } from './relations.ts';

/** The parts of a sync that decide what it reads and feeds. */
export type LinkedSync = Pick<SyncDefinition, 'name' | 'endpoint' | 'request' | 'forEach' | 'after'>;

/** A table or view that one sync feeds and another sync reads. */
export interface SyncLink {
  readonly from: string;
  readonly via: string;
  readonly to: string;
  /** True if `to` waits for `from` by `after`. Otherwise it reads the rows that exist when it starts. */
  readonly waits: boolean;
}

/** The tables and views that the queries of `for_each` read. */
export const readsOfSync = ({ forEach = [] }: Pick<LinkedSync, 'forEach'>): string[] => [
  ...new Set(forEach.flatMap((source) => (source.from === 'query' ? readsOfQuery(source.sql) : []))),
];

/** What the answers of a sync feed, without rows that its requests do not ask for. */
export const feedsOfSync = (sync: LinkedSync): Feed[] =>
  feedsOfEndpoint(sync.endpoint.name).filter(
    ({ onlyWith }) => onlyWith.length === 0 || onlyWith.some((name) => mayBeOn(sync, name)),
  );

/** False if no request of the sync has the switch on. */
function mayBeOn({ endpoint, request, forEach = [] }: LinkedSync, name: string): boolean {
  const isProvided = forEach.some((source) =>
    source.from === 'list'
      ? source.rows.some((row) => row[name] === true)
      : source.field === undefined || source.field === name,
  );
  if (isProvided) return true;
  const fallback: unknown = (endpoint.request.shape[name] as z.ZodType | undefined)?.safeParse(undefined).data;
  return (request[name] ?? fallback) === true;
}

/** True if the sync feeds the table, or a table of the view. */
export function feedsRelation(sync: LinkedSync, relation: string): boolean {
  const tables = baseTablesOf(relation);
  return feedsOfSync(sync).some(({ table }) => tables.includes(table));
}

/** Every link between two syncs, in the order of the config. */
export const linksOf = (syncs: readonly LinkedSync[]): SyncLink[] =>
  syncs.flatMap((from) =>
    syncs.flatMap((to) =>
      readsOfSync(to)
        .filter((via) => feedsRelation(from, via))
        .map((via) => ({ from: from.name, via, to: to.name, waits: waitsFor(to, from.name, syncs) })),
    ),
  );

/** True if the sync names the other in `after`, or a sync that waits for it. A config has no cycles of `after`. */
const waitsFor = ({ after }: LinkedSync, other: string, syncs: readonly LinkedSync[]): boolean =>
  after.includes(other) || syncs.some((it) => after.includes(it.name) && waitsFor(it, other, syncs));

/** The links that lead to one of these syncs, over any number of others, or with `forward` those that lead on from them. */
export function linkedTo(links: readonly SyncLink[], names: readonly string[], forward: boolean): SyncLink[] {
  const [start, end] = forward ? (['from', 'to'] as const) : (['to', 'from'] as const);
  const reached = new Set(names);
  // The set grows while it is visited, to the closure.
  for (const name of reached) for (const link of links) if (link[start] === name) reached.add(link[end]);
  return links.filter((link) => reached.has(link[start]));
}
