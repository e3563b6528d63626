/** Removes a forgotten entity from the items of an answer, at each place where the contract allows it; pure. */
import type { KeyedRequest } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import {
  type Kind,
  type ListElement,
  type Field,
  type Fields,
  type ObservationSpec,
  type Resource,
  TOPICS,
} from '../../service/model.ts';
import { type Forgotten, isTombstone, tombstone } from '../../service/names/forgotten.ts';
import { isKeyedByPseudonym, isKeyedByQuestion } from '../../service/resource.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { asksForForgotten } from './redact-request.ts';
import { isUrnOfForgotten } from './forgotten-urn.ts';
import { NAME_FIELDS, PERMANENT_FIELDS } from './identifying-fields.ts';
import { type Cleaning, cleaned, cleanedEntry, cleanText, isOwnName, mapped, mappedFields } from './clean.ts';
import { coerceCell, coerceEpoch } from '../coerce.ts';
import { observedResource } from '../observe-entity.ts';
import { isObject, type JsonObject, numberText } from '../scope.ts';

/** What to remove, and a callback for each object that was the entity. */
export interface ItemRedaction {
  readonly forgotten: Forgotten;
  readonly onFound?: (found: JsonObject) => void;
}

/**
 * The items without the forgotten entity. A tombstone replaces an item or an element, and an empty object replaces an
 * object. Returns the identical array if there is nothing to remove. If the items are keyed by a request about the
 * entity, all of them belong to it.
 */
export function redactItems(
  endpoint: Endpoint,
  source: KeyedRequest,
  items: readonly unknown[],
  redaction: ItemRedaction,
): readonly unknown[] {
  const { forgotten } = redaction;
  const isItsOwn =
    isKeyedByPseudonym(endpoint.returns, source.request) ||
    (isKeyedByQuestion(endpoint.returns) && asksForForgotten(endpoint, source.request, forgotten));
  return mapped(items, (item, position) => {
    const walk: Walk = { ...redaction, source, position, resource: endpoint.returns };
    if (!isObject(item)) return isItsOwn ? tombstone() : redactValue(item, walk);
    if (isItsOwn && !isTombstone(item)) return tombstone(remainsOf(endpoint.returns.fields, item, walk));
    return entity(endpoint.returns, item, walk);
  });
}

/** What to remove from the fields of a resource. */
export interface ResourceRedaction extends ItemRedaction {
  /** The resource whose fields are visited. Names in lists of unknown shape refer to resources of its topic. */
  readonly resource: Resource;
}

export interface Walk extends ResourceRedaction {
  readonly source: KeyedRequest;
  readonly position: number;
}

/** A value of unknown shape without the entity. */
const redactValue = (value: unknown, redaction: ResourceRedaction): unknown => cleaned(value, cleaningOf(redaction));

/** The value of a column without the entity. A count may have the same digits as an id. */
export const redactScalar = (value: unknown, redaction: ResourceRedaction): unknown =>
  typeof value === 'number' ? value : redactValue(value, redaction);

/** The value of a declared column without the entity. What loads as a number stays, also with more digits than a double has. */
function redactCell(kind: Kind, value: unknown, redaction: ResourceRedaction): unknown {
  if (kind === 'json') return redactScalar(value, redaction);
  const isNumber =
    kind === 'epoch'
      ? coerceEpoch(value) !== undefined
      : (kind === 'integer' || kind === 'number') && coerceCell(kind, value) !== undefined;
  return isNumber ? value : redactText(value, redaction);
}

/** The value of a text column without the entity. A short or shared name stays, as it does in the column. */
const redactText = (value: unknown, redaction: ResourceRedaction): unknown =>
  typeof value === 'string' ? cleanText(value, { forgotten: redaction.forgotten }) : redactScalar(value, redaction);

/** An element of a list of unknown shape without the entity; a tombstone if the element is about it. */
export const redactElement = (element: unknown, redaction: ResourceRedaction): unknown =>
  isAbout(element, redaction) ? tombstone() : redactValue(element, redaction);

export const cleaningOf = ({ forgotten, onFound, resource }: ResourceRedaction): Cleaning => ({
  forgotten,
  tables: TABLES_BY_TOPIC.get(resource.topic) ?? [],
  ...(onFound && { onFound }),
});

const TABLES_BY_TOPIC = new Map(
  TOPICS.map((topic) => [topic, rootTables.filter(({ resource }) => resource.topic === topic).map(({ name }) => name)]),
);

/** A complete entity of the resource. */
function entity(resource: Resource, value: JsonObject, outer: Walk): JsonObject {
  const walk = { ...outer, resource };
  if (isTombstone(value) || !isForgotten(resource, value, false, walk))
    return fieldsOf(resource.fields, value, walk, otherOf(resource, value, false, walk));
  return found(value, walk, tombstone(remainsOf(resource.fields, value, walk)));
}

/** What an entity reports about other entities, without what it reports about itself. */
const remainsOf = (fields: Fields, value: JsonObject, walk: Walk): JsonObject =>
  Object.fromEntries(
    Object.entries(fieldsOf(fields, value, walk)).filter(([name]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field !== undefined && describesOthers(field);
    }),
  );

function describesOthers(field: Field): boolean {
  if (field.shape === 'object') return field.observation !== undefined;
  if (field.shape === 'list') return field.element.of === 'object' && observesOthers(field.element);
  return field.shape === 'nested' || field.shape === 'nested-list';
}

const observesOthers = ({ observation, fields }: Extract<ListElement, { of: 'object' }>): boolean =>
  observation !== undefined ||
  Object.values(fields).some((it) => it.shape === 'object' && it.observation !== undefined);

function found<T>(value: JsonObject, { onFound }: Walk, replacement: T): T {
  onFound?.(value);
  return replacement;
}

/** An entity that is not forgotten. */
interface Other {
  readonly table: string;
  /** The fields that hold its key. */
  readonly keyFields: readonly string[];
}

/** The fields without the entity. Another entity's own names stay, since aliases can change hands, and so does its key. */
const fieldsOf = (fields: Fields, wire: JsonObject, walk: Walk, other?: Other): JsonObject =>
  mappedFields(wire, (name, value) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (other && (isItsKey(other, name, value, walk) || isOwnName(name, value, cleaningOf(walk)))) return [name, value];
    if (!field) return cleanedEntry(name, value, cleaningOf(walk));
    return [name, value === null ? value : fieldOf(field, value, walk)];
  });

export function fieldOf(field: Field, value: unknown, walk: Walk): unknown {
  switch (field.shape) {
    case 'scalar':
    case 'given':
      return redactCell(field.kind, value, walk);
    case 'object':
      if (!isObject(value)) return redactValue(value, walk);
      return isObservedForgotten(field.observation, value, walk)
        ? found(value, walk, {})
        : fieldsOf(field.fields, value, walk, otherObserved(field.observation, value, walk));
    case 'list':
      return Array.isArray(value)
        ? mapped(value, (element: unknown) => elementOf(field.element, element, walk))
        : redactValue(value, walk);
    case 'nested':
      return isObject(value) ? entity(field.resource(), value, walk) : redactValue(value, walk);
    case 'nested-list':
      return Array.isArray(value)
        ? mapped(value, (inner: unknown) =>
            isObject(inner) ? entity(field.resource(), inner, walk) : redactValue(inner, walk),
          )
        : redactValue(value, walk);
  }
}

function elementOf(element: ListElement, value: unknown, walk: Walk): unknown {
  if (element.of === 'json') return redactElement(value, walk);
  if (element.of === 'scalar') return redactText(value, walk);
  if (!isObject(value)) return redactValue(value, walk);
  if (isObservedForgotten(element.observation, value, walk)) return found(value, walk, tombstone());
  // An element that is keyed by the entity has no meaning without it.
  for (const [name, field] of Object.entries(element.fields)) {
    const inner = value[name];
    if (field.shape !== 'object' || !isObject(inner) || !isObservedForgotten(field.observation, inner, walk)) continue;
    if (element.key.some((key) => key.startsWith(`${name}_`))) return found(inner, walk, tombstone());
  }
  return fieldsOf(element.fields, value, walk, otherObserved(element.observation, value, walk));
}

const isObservedForgotten = (observation: ObservationSpec | undefined, value: JsonObject, walk: Walk): boolean =>
  observation !== undefined &&
  isForgotten(observedResource(observation, value), value, observation.bare === true, walk);

const otherObserved = (observation: ObservationSpec | undefined, value: JsonObject, walk: Walk): Other | undefined =>
  observation && otherOf(observedResource(observation, value), value, observation.bare === true, walk);

/** The key of an object; undefined if a part of it is missing. */
function keyOf(resource: Resource, value: JsonObject, isBare: boolean, walk: Walk): readonly string[] | undefined {
  const key = resource.key.map((name) => keyPart(resource, name, isBare ? { urn: value } : value, walk));
  const present = key.filter((part) => part !== undefined);
  return present.length === key.length ? present : undefined;
}

/** The entity that an object with a key is. */
const otherOf = (resource: Resource, value: JsonObject, isBare: boolean, walk: Walk): Other | undefined =>
  keyOf(resource, value, isBare, walk) && {
    table: resource.table,
    keyFields: resource.key.map((name) => {
      if (isBare) return name.replace(/^urn_/, '');
      return resource.fields[name] ? name : name.slice(0, name.lastIndexOf('_'));
    }),
  };

/** True if the field holds the entity's key. Forgotten entities of other tables may have an id with the same digits. */
function isItsKey({ table, keyFields }: Other, field: string, value: unknown, { forgotten }: Walk): boolean {
  if (!keyFields.includes(field)) return false;
  const isUrn = isObject(value) && Object.keys(value).every((name) => name === 'type' || name === 'value');
  const text = textOf(isUrn ? value['value'] : value);
  return text !== undefined && !forgotten.isName(table, text);
}

/**
 * An object without a key is identified by its names. An object with another key is identified only by ids that never
 * change.
 */
function isForgotten(resource: Resource, value: JsonObject, isBare: boolean, walk: Walk): boolean {
  const { forgotten } = walk;
  const key = keyOf(resource, value, isBare, walk);
  if (key && forgotten.isKey(resource.table, key)) return true;
  const names = key ? namesIn(value, PERMANENT_FIELDS) : namesIn(value);
  return names.some((name) => forgotten.isName(resource.table, name));
}

function keyPart(resource: Resource, name: string, value: JsonObject, { source, position }: Walk): string | undefined {
  const field = resource.fields[name];
  if (field?.shape === 'given') return textOf(field.from(source, position));
  if (field) return textOf(value[name]);
  const end = name.lastIndexOf('_');
  const object = value[name.slice(0, end)];
  return isObject(object) ? textOf(object[name.slice(end + 1)]) : undefined;
}

/** Texts, and numbers by their digits; an empty text is not a key. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : numberText(value);
  return text === '' ? undefined : text;
}

/** The object's own names. */
const namesIn = (value: JsonObject, fields = NAME_FIELDS): string[] =>
  fields.flatMap((field) => {
    const name = value[field];
    return textOf(isObject(name) ? name['value'] : name) ?? [];
  });

/** True if a value of unknown shape contains a name of the entity. */
function isAbout(value: unknown, redaction: ResourceRedaction): boolean {
  const { forgotten, resource } = redaction;
  const text = textOf(value);
  if (text !== undefined) return forgotten.isName(resource.table, text);
  if (Array.isArray(value)) return value.some((inner) => isAbout(inner, redaction));
  return (
    isObject(value) && (isUrnOfForgotten(value, forgotten) || Object.values(value).some((it) => isAbout(it, redaction)))
  );
}
