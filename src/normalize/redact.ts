/** Takes a forgotten entity out of the items of an answer, wherever the contract says that it may be; pure. */
import type { Asked } from '../service/asked.ts';
import type { Endpoint } from '../service/endpoint.ts';
import type { Element, Field, Fields, Sighting } from '../service/field.ts';
import { asksForPseudonym, type Forgotten, isTombstone, tombstone } from '../service/forgotten.ts';
import { isKeyedByQuestion, type Resource } from '../service/resource.ts';
import { asksFor, isUrnOfForgotten } from './redact-request.ts';
import { isObject, type Wire } from './scope.ts';

/** What is taken out, and who is told of each object that was the entity. */
export interface Redaction {
  readonly forgotten: Forgotten;
  readonly onFound?: (found: Wire) => void;
}

/**
 * The items without what is forgotten: a tombstone where an item or an element was the entity, an empty object where an
 * object was it. The very same array when there was nothing to take out. Items that are keyed by a question about the entity
 * are its own, all of them.
 */
export function redactItems(
  endpoint: Endpoint,
  asked: Asked,
  items: readonly unknown[],
  redaction: Redaction,
): readonly unknown[] {
  const { forgotten } = redaction;
  const isItsOwn =
    isKeyedByQuestion(endpoint.returns) &&
    (asksFor(endpoint, asked.request, forgotten) || asksForPseudonym(asked.request));
  return mapped(items, (item, position) => {
    const walk: Walk = { ...redaction, asked, position, resource: endpoint.returns };
    if (!isObject(item)) return isItsOwn ? tombstone() : cleaned(item, walk);
    if (isItsOwn && !isTombstone(item)) return tombstone(remainsOf(endpoint.returns.fields, item, walk));
    return entity(endpoint.returns, item, walk);
  });
}

interface Walk extends Redaction {
  readonly asked: Asked;
  readonly position: number;
  /** Whose fields are walked; names inside lists of unknown shape are of its network. */
  readonly resource: Resource;
}

/** The same array when every element stays what it is. */
function mapped<T>(values: readonly T[], of: (value: T, at: number) => unknown): readonly unknown[] {
  const after = values.map(of);
  return after.every((value, at) => value === values[at]) ? values : after;
}

/** The same object when every field stays what it is. */
function mappedFields(wire: Wire, of: (name: string, value: unknown) => unknown): Wire {
  const after = Object.entries(wire).map(([name, value]) => [name, of(name, value)] as const);
  return after.every(([name, value]) => value === wire[name]) ? wire : Object.fromEntries(after);
}

/** An object that is a whole entity of the resource. */
function entity(resource: Resource, value: Wire, around: Walk): Wire {
  const walk = { ...around, resource };
  if (isTombstone(value) || !isForgotten(resource, value, false, walk)) return fieldsOf(resource.fields, value, walk);
  return found(value, walk, tombstone(remainsOf(resource.fields, value, walk)));
}

/** What an entity tells of others, without what it tells of itself. */
const remainsOf = (fields: Fields, value: Wire, walk: Walk): Wire =>
  Object.fromEntries(
    Object.entries(fieldsOf(fields, value, walk)).filter(([name]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field !== undefined && tellsOfOthers(field);
    }),
  );

function tellsOfOthers(field: Field): boolean {
  if (field.shape === 'object') return field.sighting !== undefined;
  if (field.shape === 'list') return field.element.of === 'object' && seesOthers(field.element);
  return field.shape === 'nested' || field.shape === 'nested-list';
}

const seesOthers = ({ sighting, fields }: Extract<Element, { of: 'object' }>): boolean =>
  sighting !== undefined || Object.values(fields).some((it) => it.shape === 'object' && it.sighting !== undefined);

function found<T>(value: Wire, { onFound }: Walk, gone: T): T {
  onFound?.(value);
  return gone;
}

const fieldsOf = (fields: Fields, wire: Wire, walk: Walk): Wire =>
  mappedFields(wire, (name, value) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field && value !== null ? fieldOf(field, value, walk) : cleaned(value, walk);
  });

function fieldOf(field: Field, value: unknown, walk: Walk): unknown {
  switch (field.shape) {
    case 'scalar':
    case 'given':
      return cleaned(value, walk);
    case 'object':
      if (!isObject(value)) return cleaned(value, walk);
      return isSeen(field.sighting, value, walk) ? found(value, walk, {}) : fieldsOf(field.fields, value, walk);
    case 'list':
      return Array.isArray(value)
        ? mapped(value, (element: unknown) => elementOf(field.element, element, walk))
        : cleaned(value, walk);
    case 'nested':
      return isObject(value) ? entity(field.resource(), value, walk) : cleaned(value, walk);
    case 'nested-list':
      return Array.isArray(value)
        ? mapped(value, (inner: unknown) =>
            isObject(inner) ? entity(field.resource(), inner, walk) : cleaned(inner, walk),
          )
        : cleaned(value, walk);
  }
}

function elementOf(element: Element, value: unknown, walk: Walk): unknown {
  if (element.of === 'json') return isAbout(value, walk) ? tombstone() : cleaned(value, walk);
  if (element.of === 'scalar' || !isObject(value)) return cleaned(value, walk);
  if (isSeen(element.sighting, value, walk)) return found(value, walk, tombstone());
  // An element that is keyed by the entity in it says nothing without it.
  for (const [name, field] of Object.entries(element.fields)) {
    const inner = value[name];
    if (field.shape !== 'object' || !isObject(inner) || !isSeen(field.sighting, inner, walk)) continue;
    if (element.key.some((key) => key.startsWith(`${name}_`))) return found(inner, walk, tombstone());
  }
  return fieldsOf(element.fields, value, walk);
}

function isSeen(sighting: Sighting | undefined, value: Wire, walk: Walk): boolean {
  if (!sighting) return false;
  const urn = sighting.bare ? value : value['urn'];
  const type = isObject(urn) ? urn['type'] : undefined;
  return isForgotten(sighting.of(typeof type === 'string' ? type : ''), value, sighting.bare === true, walk);
}

/** An object without a key of its own is known by its names. */
function isForgotten(resource: Resource, value: Wire, isBare: boolean, walk: Walk): boolean {
  const key = resource.key.map((name) => keyPart(resource, name, isBare ? { urn: value } : value, walk));
  const whole = key.filter((part) => part !== undefined);
  if (whole.length === key.length) return walk.forgotten.isKey(resource.table, whole);
  return namesIn(value).some((name) => walk.forgotten.isName(resource.table, name));
}

function keyPart(resource: Resource, name: string, value: Wire, { asked, position }: Walk): string | undefined {
  const field = resource.fields[name];
  if (field?.shape === 'given') return textOf(field.from(asked, position));
  if (field) return textOf(value[name]);
  const end = name.lastIndexOf('_');
  const object = value[name.slice(0, end)];
  return isObject(object) ? textOf(object[name.slice(end + 1)]) : undefined;
}

/** Texts and numbers by their digits; an empty one is no key. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && JSON.isRawJSON(value)) return value.rawJSON;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return text === '' ? undefined : text;
}

/** Fields by which the contract's objects name an entity; a shown name is none, since many share it. */
export const NAME_FIELDS: readonly string[] = ['id', 'rest_id', 'internal_id', 'alias', 'url'];

/** The names that an object gives itself. */
const namesIn = (value: Wire): string[] =>
  NAME_FIELDS.flatMap((field) => {
    const name = value[field];
    return textOf(isObject(name) ? name['value'] : name) ?? [];
  });

/** True of a value of unknown shape that names the entity anywhere in it. */
function isAbout(value: unknown, walk: Walk): boolean {
  const text = textOf(value);
  if (text !== undefined) return walk.forgotten.isName(walk.resource.table, text);
  if (Array.isArray(value)) return value.some((inner) => isAbout(inner, walk));
  return (
    isObject(value) && (isUrnOfForgotten(value, walk.forgotten) || Object.values(value).some((it) => isAbout(it, walk)))
  );
}

/** A value of any shape without the names in its texts, and without URNs of the entity. */
export function cleaned(value: unknown, it: Pick<Walk, 'forgotten'>): unknown {
  if (typeof value === 'string') return it.forgotten.scrub(value);
  if (Array.isArray(value)) return mapped(value, (inner: unknown) => cleaned(inner, it));
  if (!isObject(value)) return value;
  if (isUrnOfForgotten(value, it.forgotten)) return {};
  const names = Object.keys(value);
  const kept = mappedFields(value, (_, inner) => cleaned(inner, it));
  if (names.every((name) => it.forgotten.scrub(name) === name)) return kept;
  return Object.fromEntries(Object.entries(kept).map(([name, inner]) => [it.forgotten.scrub(name), inner]));
}
