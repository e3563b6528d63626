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
  feedsOfEndpoint(sync.endpoint.name).filter((feed) => isFeedOf(sync, feed));

/** True if answers of the sync have what the feed takes from them. */
export const isFeedOf = (sync: LinkedSync, { endpoint, onlyWith }: Feed): boolean =>
  sync.endpoint.name === endpoint && (onlyWith.length === 0 || onlyWith.some((name) => mayBeOn(sync, name)));

/** False if no request of the sync has the switch on. */
function mayBeOn({ endpoint, request, forEach = [] }: LinkedSync, name: string): boolean {
  const isProvided = forEach.some((source) =>
    source.from === 'list'
      ? source.rows.some((row) => row[name] === true)
      : source.field === undefined || source.field === name,
  );
  if (isProvided) return true;
  const isOff = forEach.some((source) => source.from === 'list' && source.rows.every((row) => row[name] === false));
  if (isOff) return false;
  const fallback: unknown = (endpoint.request.shape[name] as z.ZodType | undefined)?.safeParse(undefined).data;
  return (request[name] ?? fallback) === true;
}

/** Every link between two syncs, in the order of the config. */
export function linksOf(syncs: readonly LinkedSync[]): SyncLink[] {
  const readers = syncs
    .map((to) => ({ to, reads: readsOfSync(to), before: namesBefore(to, syncs) }))
    .filter(({ reads }) => reads.length > 0);
  return syncs.flatMap((from) => {
    const fed = new Set(feedsOfSync(from).map(({ table }) => table));
    return readers.flatMap(({ to, reads, before }) =>
      reads
        .filter((via) => baseTablesOf(via).some((table) => fed.has(table)))
        .map((via) => ({ from: from.name, via, to: to.name, waits: before.has(from.name) })),
    );
  });
}

/** The syncs that run before this one, by `after` over any number of others. */
function namesBefore({ after }: LinkedSync, syncs: readonly LinkedSync[]): ReadonlySet<string> {
  const names = new Set(after);
  // The set grows while it is visited, to the closure.
  for (const name of names) for (const other of syncs.find((it) => it.name === name)?.after ?? []) names.add(other);
  return names;
}

/** The links that lead to one of these syncs, over any number of others, or with `forward` those that lead on from them. */
export function linkedTo(links: readonly SyncLink[], names: readonly string[], forward: boolean): SyncLink[] {
  const [start, end] = forward ? (['from', 'to'] as const) : (['to', 'from'] as const);
  const reached = new Set(names);
  for (const name of reached) for (const link of links) if (link[start] === name) reached.add(link[end]);
  return links.filter((link) => reached.has(link[start]));
}
