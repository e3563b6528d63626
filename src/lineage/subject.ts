/** Finds what a name means: an endpoint, a table, a view, a column or a sync. */
import type { SyncDefinition } from '../config/definition.ts';
import { nearestNames } from '../config/document/nearest.ts';
import { UsageError } from '../errors.ts';
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { dictionary, type DictionaryEntry } from '../warehouse/schema/dictionary.ts';
import { relationNamed } from './relations.ts';

/** What a name can mean. */
export type Subject<Sync> =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint }
  | { readonly kind: 'relation'; readonly entry: DictionaryEntry }
  | { readonly kind: 'column'; readonly entry: DictionaryEntry; readonly column: string }
  | { readonly kind: 'sync'; readonly sync: Sync };

/** Before the name of a sync that is also the name of something else. */
const SYNC = 'sync:';

/** What the name means. Throws a UsageError with the nearest names if it means nothing. */
export function findSubject<Sync extends Pick<SyncDefinition, 'name'>>(
  name: string,
  syncs: readonly Sync[],
): Subject<Sync> {
  const endpoint = endpointAt(name);
  if (endpoint) return { kind: 'endpoint', endpoint };
  const found = findRelation(name);
  if (found) {
    const { entry, column } = found;
    return column === undefined ? { kind: 'relation', entry } : { kind: 'column', entry, column };
  }
  const sync = syncs.find((it) => it.name === (name.startsWith(SYNC) ? name.slice(SYNC.length) : name));
  if (sync) return { kind: 'sync', sync };
  const known = [
    ...catalog.map((it) => it.name),
    ...dictionary().map(({ table }) => table),
    ...syncs.map((it) => it.name),
  ];
  const expected = `an endpoint, a table, a view, a column${syncs.length > 0 ? ' or a sync of the config' : ''}`;
  throw unknownName(name, expected, known, 'sluice endpoints or sluice tables');
}

/** The endpoint of this name. Throws a UsageError with the nearest names if there is none. */
export function findEndpoint(name: string): Endpoint {
  const endpoint = endpointAt(name);
  if (endpoint) return endpoint;
  const known = catalog.map((it) => it.name);
  throw unknownName(name, 'an endpoint', known, 'sluice endpoints');
}

/** The endpoint of this name or path, as in the request log. */
const endpointAt = (name: string): Endpoint | undefined => catalog.find((it) => it.name === name || it.path === name);

interface FoundRelation {
  readonly entry: DictionaryEntry;
  readonly column?: string;
}

/** The table or view of this name, with or without its schema. Throws a UsageError with the nearest names if there is none. */
export function findTable(name: string): DictionaryEntry {
  const found = findRelation(name);
  if (found?.column === undefined && found) return found.entry;
  const known = dictionary().map(({ table }) => table);
  throw unknownName(name, 'a table or view', known, 'sluice tables');
}

/**
 * The table, view or column of this name, with or without a schema; undefined if there is none. Throws a UsageError for an
 * unknown column of a known table.
 */
function findRelation(name: string): FoundRelation | undefined {
  const parts = name.toLowerCase().replaceAll('"', '').split('.');
  const [first = '', ...rest] = parts;
  // The first part is a schema if it is not a table: a warehouse can give its schema any name.
  const [table = '', column, ...more] = rest.length > 0 && !relationNamed(first) ? rest : parts;
  const entry = relationNamed(table);
  if (!entry || more.length > 0) return undefined;
  if (column === undefined) return { entry };
  const columns = entry.columns.map((it) => it.name);
  if (!columns.includes(column)) throw unknownName(column, `a column of ${table}`, columns, `sluice tables ${table}`);
  return { entry, column };
}

function unknownName(name: string, expected: string, known: readonly string[], allNames: string): UsageError {
  const [near = []] = [name, name.split(/[.:]/).at(-1) ?? '']
    .map((it) => nearestNames(it, known))
    .filter(({ length }) => length > 0);
  const nearest = `The nearest ${near.length === 1 ? 'name is' : 'names are'} ${near.join(', ')}. `;
  return new UsageError(`${JSON.stringify(name)} is not ${expected}.`, {
    next: `${near.length === 0 ? '' : nearest}Run ${allNames} for all names.`,
  });
}
