/**
 * Items as the service could send them, folded from the declarations: every field filled, each with a value of its own.
 * Shares nothing with the code that normalizes answers.
 */
import type { ListElement, Field, Fields, Kind, ObservationSpec, Resource } from '../../src/service/model.ts';

export type Item = Record<string, unknown>;

export interface SampleOptions {
  /** Which entity; its key depends on nothing else. */
  readonly entity: number;
  /** Its version: two versions differ in every field that is not in the key and not volatile. */
  readonly version?: number;
  /** Two of these differ in every volatile field. */
  readonly fleeting?: number;
  /** Elements of each list. */
  readonly size?: number;
  /** Every object gets a field that the contract does not know. */
  readonly strangers?: boolean;
  /** Nested entities depend only on their resource, so that samples of several endpoints contain the same ones. */
  readonly acquainted?: boolean;
}

/** An item with every field filled. */
export function sampleItem(resource: Resource, options: SampleOptions): Item {
  return entityItem(resource, { version: 0, fleeting: 0, size: 2, strangers: false, acquainted: false, ...options }, 0);
}

/** The name of the field that samples with strangers carry. */
export const STRANGER = 'a field nobody declared';

interface Place extends Required<SampleOptions> {
  /** Field names below the resource, joined by dots. */
  readonly path: string;
  /** Flattened names that identify this entity or element; their values do not depend on the version. */
  readonly key: readonly string[];
  /** The flattened name so far, from the entity or element on. */
  readonly flat: string;
  readonly index: number;
  /** How many entities contain this one. */
  readonly depth: number;
  /** What the entity is; the type of its URN. */
  readonly noun: string;
}

function entityItem(resource: Resource, options: Required<SampleOptions>, depth: number): Item {
  const path = `${resource.table}${'>'.repeat(depth)}`;
  return objectItem(resource.fields, resource.tag, {
    ...options,
    path,
    key: resource.key,
    flat: '',
    index: 0,
    depth,
    noun: resource.noun,
  });
}

function objectItem(fields: Fields, tag: string | undefined, place: Place): Item {
  const item: Item = tag === undefined ? {} : { '@type': tag };
  for (const [name, field] of Object.entries(fields)) {
    if (field.shape === 'given') continue;
    const inner = { ...place, path: `${place.path}.${name}`, flat: place.flat === '' ? name : `${place.flat}_${name}` };
    const value = fieldValue(field, name, inner, fields);
    if (value !== undefined) item[name] = value;
  }
  if (place.strangers) item[STRANGER] = { at: place.path, index: place.index };
  return item;
}

function fieldValue(field: Exclude<Field, { shape: 'given' }>, name: string, place: Place, beside: Fields): unknown {
  switch (field.shape) {
    case 'scalar': {
      const isUrn = Object.keys(beside).join() === 'type,value';
      if (isUrn && name === 'type') return urnType(place);
      const path = place.acquainted && isKey(place) ? place.path.replaceAll('>', '') : place.path;
      return scalarValue(field.kind, turnOf(place, field.volatile), path);
    }
    case 'object': {
      const value = objectItem(field.fields, field.tag, place);
      return field.observation && place.acquainted && place.index === 0
        ? named(value, field.observation, '', place)
        : value;
    }
    case 'list':
      return Array.from({ length: place.size }, (_, index) =>
        elementValue(field.element, { ...place, index, fleeting: field.volatile ? place.fleeting : 0 }, field.volatile),
      );
    case 'nested':
      return place.depth > 0
        ? undefined
        : entityItem(field.resource(), { ...place, entity: place.acquainted ? 1 : place.entity }, 1);
    case 'nested-list':
      return place.depth > 0
        ? undefined
        : Array.from({ length: place.size }, (_, index) =>
            entityItem(field.resource(), { ...place, entity: place.acquainted ? index : place.entity * 10 + index }, 1),
          );
  }
}

function elementValue(element: ListElement, place: Place, volatile: boolean): unknown {
  switch (element.of) {
    case 'scalar':
      return scalarValue('text', turnOf(place, volatile), place.path);
    case 'json':
      return place.index === 1
        ? scalarValue('text', turnOf(place, volatile), place.path)
        : scalarValue('json', turnOf(place, volatile), place.path);
    case 'object': {
      const value = objectItem(element.fields, element.tag, { ...place, key: element.key, flat: '', noun: '' });
      if (!element.observation || !place.acquainted || place.index > 1) return value;
      return named(value, element.observation, place.index === 0 ? '' : 'company', place);
    }
  }
}

/** The same object, naming the entity that has a sample of its own. */
function named(value: Item, { resourceOf, bare }: ObservationSpec, urnType: string, place: Place): Item {
  const resource = resourceOf(urnType);
  const own = entityItem(resource, { ...place, entity: 0 }, 1);
  if (bare === true) return { ...value, ...(own['urn'] as Item) };
  const isNamed = (name: string): boolean => resource.key.some((key) => key === name || key.startsWith(`${name}_`));
  return { ...value, ...Object.fromEntries(Object.entries(own).filter(([name]) => isNamed(name))) };
}

const URN_TYPES = ['fsd_profile', 'fsd_company', 'school', 'activity'];
const urnType = (place: Place): string =>
  isKey(place) && place.noun !== ''
    ? place.noun
    : (URN_TYPES[(isKey(place) ? place.index : place.index + place.version) % 4] ?? '');

const isKey = ({ key, flat }: Place): boolean => key.includes(flat);

/** A number that says which entity, version and element this is. */
function turnOf(place: Place, volatile: boolean): number {
  const version = isKey(place) ? 0 : volatile ? place.fleeting : place.version;
  return place.entity * 1000 + place.index * 10 + version;
}

/** A different number for each path, so that a value in the wrong column is noticed. */
function hashOf(path: string): number {
  let hash = 0x811c9dc5;
  for (const letter of path) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % 100_000;
}

function scalarValue(kind: Kind, turn: number, path: string): unknown {
  const hash = hashOf(path);
  switch (kind) {
    case 'text':
      return `${path} ${turn}`;
    case 'integer':
      return hash * 1_000_000_000 + turn;
    case 'number':
      return hash + turn / 16;
    case 'flag':
      return (hash + turn) % 2 === 0;
    case 'moment':
      return new Date(Date.UTC(2026, 0, 1) + (hash + turn) * 1000).toISOString().replace('000Z', '123456Z');
    case 'day':
      return new Date(Date.UTC(2001, 0, 1) + ((hash + turn) % 9000) * 86_400_000).toISOString().slice(0, 10);
    case 'uuid':
      return `${hash.toString(16).padStart(8, '0')}-0000-4000-8000-${turn.toString(16).padStart(12, '0')}`;
    case 'epoch':
      return 1_600_000_000 + hash + turn;
    case 'json':
      return { [path]: turn, inner: [null, path, { deep: true }] };
  }
}
