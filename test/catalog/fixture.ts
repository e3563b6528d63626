/** The base of the suites over the catalog: one warehouse, entities that no other test uses, and a way to change an item. */
import { beforeAll } from 'vitest';
import type { KeyedRequest, RequestBody } from '../../src/service/request-body.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Field, Fields } from '../../src/service/model.ts';
import { askedOf, type Loader, loaderOf, type TextRow } from '../support/loading.ts';
import { fullRequest } from '../support/requests.ts';
import type { Item } from '../support/sample.ts';
import type { Open } from '../support/warehouse.ts';
import type { ExpectedCells } from './expected-rows.ts';

export interface Fixture {
  readonly open: Open;
  /** The suites' own warehouse. */
  readonly loader: () => Promise<Loader>;
  /** The number of an entity that no other test speaks of. */
  readonly entity: () => number;
}

export function fixtureOf(open: Open): Fixture {
  let loader: Promise<Loader>;
  beforeAll(() => (loader = open().then(loaderOf)));
  let last = 0;
  return { open, loader: () => loader, entity: () => (last += 1) };
}

/** Cases of a table of tests: one for each endpoint, by name. */
export const endpoints: readonly (readonly [string, Endpoint])[] = catalog.map((it) => [it.name, it]);

export interface Question {
  readonly request: RequestBody;
  readonly keyed: KeyedRequest;
}

/** A request for everything that the endpoint reports about this entity. */
export function questionOf(endpoint: Endpoint, entity: number): Question {
  const request = fullRequest(endpoint, entity);
  return { request, keyed: askedOf(endpoint.name, request) };
}

type Told = Exclude<Field, { shape: 'given' }>;
export interface FieldAt {
  readonly path: readonly string[];
  readonly field: Told;
}

/** Every field that the service sends, those inside objects after the object itself. */
export const fieldsOf = (fields: Fields, path: readonly string[] = []): FieldAt[] =>
  Object.entries(fields).flatMap(([name, field]): FieldAt[] => {
    if (field.shape === 'given') return [];
    const at = { path: [...path, name], field };
    return field.shape === 'object' ? [at, ...fieldsOf(field.fields, at.path)] : [at];
  });

/** The item with another value at this path; undefined removes the field. */
export function changed(item: Item, [name, ...rest]: readonly string[], value: unknown): Item {
  if (name === undefined) return item;
  if (rest.length > 0) return { ...item, [name]: changed((item[name] ?? {}) as Item, rest, value) };
  const { [name]: _, ...others } = item;
  return value === undefined ? others : { ...item, [name]: value };
}

/** True when the columns of the field at this path belong to the key. */
export const isOfKey = (key: readonly string[], path: readonly string[]): boolean =>
  key.some((name) => name === path.join('_') || name.startsWith(`${path.join('_')}_`));

/** The columns that find an expected row. */
export const whereOf = (key: readonly string[], cells: ExpectedCells): Record<string, string> =>
  Object.fromEntries(key.map((name) => [name, String(cells[name]?.value)]));

/** A row as the suites compare it: JSON parsed, the machinery's columns left out. */
export function contentOf(row: TextRow, types: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !name.startsWith('_'))
      .map(([name, text]) => [
        name,
        types.get(name) === 'jsonb' && text !== null ? (JSON.parse(text) as unknown) : text,
      ]),
  );
}
