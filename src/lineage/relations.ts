/** What reads what among tables and views, and which endpoints feed them: derived from the declarations. */
import { memoize } from '../async/memoize.ts';
import { catalog } from '../service/catalog.ts';
import type { Detail } from '../service/model.ts';
import { dictionary, type DictionaryEntry } from '../warehouse/schema/dictionary.ts';
import { views } from '../warehouse/schema/views/views.ts';
import { type RelationNames, relationsIn } from '../warehouse/sql/relations.ts';
import type { RowSource } from './answer-fields.ts';
import { rowSourcesOf } from './row-sources.ts';

const entries = memoize(() => new Map(dictionary().map((it) => [it.table, it])));

/** The table or view of that name, also one for internal use; undefined if none is declared. */
export const relationNamed = (name: string): DictionaryEntry | undefined => entries().get(name);

const names = memoize(
  (): RelationNames => ({
    relations: new Set(entries().keys()),
    columns: new Set([...entries().values()].flatMap(({ columns }) => columns.map(({ name }) => name))),
  }),
);

/** The tables and views that a statement reads. */
export const readsOfQuery = (sql: string): string[] => relationsIn(sql, names());

const readsOfViews = memoize(
  () => new Map(views.map(({ name, query }) => [name, readsOfQuery(query).filter((it) => it !== name)])),
);

/** The tables and views that a view reads itself; none for a table. */
export const readsOf = (relation: string): readonly string[] => readsOfViews().get(relation) ?? [];

/** The tables that a view reads, itself or through other views. A table is its own base. */
export function baseTablesOf(relation: string): string[] {
  const reads = readsOf(relation);
  return reads.length === 0 ? [relation] : [...new Set(reads.flatMap(baseTablesOf))];
}

/** A view that reads a table or view. */
export interface ReadingView {
  readonly view: string;
  /** False if it reads it only through other views. */
  readonly isDirect: boolean;
}

/** The views that read one of these tables and views, those that read it themselves first. */
export function viewsReading(relations: readonly string[]): ReadingView[] {
  const direct = views.filter(({ name }) => readsOf(name).some((it) => relations.includes(it))).map(({ name }) => name);
  const all = new Set(direct);
  // A view is added while its views are visited, so the set grows to the closure.
  for (const view of all) for (const { name } of views) if (readsOf(name).includes(view)) all.add(name);
  return [...all].map((view) => ({ view, isDirect: direct.includes(view) }));
}

/** A place in the answers of an endpoint from which rows of a table come, or the values of one of its columns. */
export interface Feed {
  readonly endpoint: string;
  readonly table: string;
  /** The path in an answer, such as `[].author`; `[]` is each item. Null for a value of the request. */
  readonly path: string | null;
  /** answer: what is at the path. request: a value of the request. computed: derived from what is at the path. */
  readonly from: 'answer' | 'request' | 'computed';
  /** How much the place reports about an entity. */
  readonly detail: Detail;
  /** Request switches. An answer has such rows only if one of them is on; empty if it always has them. */
  readonly onlyWith: readonly string[];
}

const sources = memoize(() =>
  catalog.flatMap((endpoint) => rowSourcesOf(endpoint).map((source) => ({ ...source, endpoint: endpoint.name }))),
);

const feedOf = ({ endpoint, table, path, detail, onlyWith }: RowSource & { readonly endpoint: string }): Feed => ({
  endpoint,
  table,
  path,
  from: 'answer',
  detail,
  onlyWith,
});

/** What the answers of an endpoint feed. */
export const feedsOfEndpoint = (name: string): Feed[] =>
  sources()
    .filter(({ endpoint }) => endpoint === name)
    .map(feedOf);

/** What feeds a table, or the tables of a view. */
export function feedsInto(relation: string): Feed[] {
  const tables = baseTablesOf(relation);
  return sources()
    .filter(({ table }) => tables.includes(table))
    .map(feedOf);
}

/** What feeds a column of a table. */
export const feedsIntoColumn = (table: string, column: string): Feed[] =>
  sources().flatMap((source) =>
    source.table === table
      ? source.columns
          .filter((it) => it.column === column)
          .map(({ path, from, onlyWith }) => ({ ...feedOf(source), path, from, onlyWith }))
      : [],
  );

/** The names of the endpoints whose answers feed a table, or the tables of a view. */
export const endpointsFeeding = (relation: string): string[] => [
  ...new Set(feedsInto(relation).map(({ endpoint }) => endpoint)),
];
