/** Describes what feeds an endpoint, a table, a view, a column or a sync, and what it feeds: from declarations and a config. */
import type { DictionaryEntry } from '../warehouse/schema/dictionary.ts';
import {
  type Feed,
  feedsInto,
  feedsIntoColumn,
  feedsOfEndpoint,
  type ReadingView,
  readsOf,
  viewsReading,
} from './relations.ts';
import type { Subject } from './subject.ts';
import { feedsOfSync, isFeedOf, type LinkedSync, linkedTo, linksOf, readsOfSync, type SyncLink } from './sync-uses.ts';

export interface Description {
  readonly kind: 'endpoint' | 'column' | 'sync' | DictionaryEntry['kind'];
  readonly name: string;
  readonly about: string;
  /** The tables and views that the view, or the input queries of the sync, read. */
  readonly reads: readonly string[];
  /** What the endpoint or sync feeds; for a table, a view or a column, what feeds it. */
  readonly feeds: readonly Feed[];
  /** The views that read the table or view, or a table that the endpoint or sync feeds. */
  readonly views: readonly ReadingView[];
  /** The syncs that request the endpoint, or that feed or read the table; null without a config. */
  readonly syncs: readonly DescribedSync[] | null;
  /** Chains from sync to table to sync around these syncs; null without a config. */
  readonly links: readonly SyncLink[] | null;
}

export interface DescribedSync {
  readonly sync: string;
  readonly endpoint: string;
  /** Whether its answers feed the table. True for the syncs of an endpoint. */
  readonly feeds: boolean;
  /** The tables and views that its input queries read. */
  readonly reads: readonly string[];
  /** The syncs that run before it. */
  readonly after: readonly string[];
}

/** The lineage of a subject; without syncs if `syncs` is undefined. */
export function describeSubject(subject: Subject<LinkedSync>, syncs: readonly LinkedSync[] | undefined): Description {
  switch (subject.kind) {
    case 'endpoint': {
      const { name, about } = subject.endpoint;
      const feeds = feedsOfEndpoint(name);
      const requesting = syncs?.filter(({ endpoint }) => endpoint.name === name);
      return {
        kind: 'endpoint',
        name,
        about,
        reads: [],
        ...fedBy(feeds),
        ...syncsAround(syncs, requesting, requesting),
      };
    }
    case 'sync': {
      const { sync } = subject;
      const { name, endpoint } = sync;
      const around = syncsAround(syncs, [sync], [sync]);
      return {
        kind: 'sync',
        name,
        about: endpoint.about,
        reads: readsOfSync(sync),
        ...fedBy(feedsOfSync(sync)),
        ...around,
      };
    }
    case 'relation': {
      const { table, kind, about } = subject.entry;
      return { kind, name: table, about, ...aroundRelation(table, feedsInto(table), syncs) };
    }
    case 'column': {
      const { entry, column } = subject;
      const { table } = entry;
      const about = entry.columns.find(({ name }) => name === column)?.about ?? '';
      const feeds = entry.kind === 'view' ? feedsInto(table) : feedsIntoColumn(table, column);
      return { kind: 'column', name: `${table}.${column}`, about, ...aroundRelation(table, feeds, syncs) };
    }
  }
}

/** The feeds of an endpoint or sync, and the views that read the fed tables. */
const fedBy = (feeds: readonly Feed[]): Pick<Description, 'feeds' | 'views'> => ({
  feeds,
  views: viewsReading([...new Set(feeds.map(({ table }) => table))]),
});

/** What a table or view reads, and what reads it. `feeds` feed it, or one of its columns. */
function aroundRelation(
  relation: string,
  feeds: readonly Feed[],
  syncs: readonly LinkedSync[] | undefined,
): Pick<Description, 'reads' | 'feeds' | 'views' | 'syncs' | 'links'> {
  const views = viewsReading([relation]);
  const names = [relation, ...views.map(({ view }) => view)];
  const feeding = syncs?.filter((it) => feeds.some((feed) => isFeedOf(it, feed)));
  const reading = syncs?.filter((it) => readsOfSync(it).some((name) => names.includes(name)));
  return { reads: readsOf(relation), feeds, views, ...syncsAround(syncs, feeding, reading, names) };
}

/** These syncs with the links that lead to the feeding ones, that pass the relations, and that lead on from the reading ones. */
function syncsAround(
  syncs: readonly LinkedSync[] | undefined,
  feeding: readonly LinkedSync[] = [],
  reading: readonly LinkedSync[] = [],
  relations: readonly string[] = [],
): Pick<Description, 'syncs' | 'links'> {
  if (!syncs) return { syncs: null, links: null };
  const links = linksOf(syncs);
  const namesOf = (of: readonly LinkedSync[]): string[] => of.map(({ name }) => name);
  const shown = new Set([
    ...linkedTo(links, namesOf(feeding), false),
    ...links.filter(({ via }) => relations.includes(via)),
    ...linkedTo(links, namesOf(reading), true),
  ]);
  return {
    syncs: syncs
      .filter((it) => feeding.includes(it) || reading.includes(it))
      .map((it) => ({
        sync: it.name,
        endpoint: it.endpoint.name,
        feeds: feeding.includes(it),
        reads: readsOfSync(it),
        after: it.after,
      })),
    links: links.filter((it) => shown.has(it)),
  };
}
