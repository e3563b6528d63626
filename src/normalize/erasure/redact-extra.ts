/** Removes a forgotten entity from `extra`, the fields of a row that have no column; pure. */
import type { Field, Fields } from '../../service/model.ts';
import { isTombstone } from '../../service/names/forgotten.ts';
import { isObject, type JsonObject } from '../scope.ts';
import { cleanedEntry, isOwnName, mappedFields } from './clean.ts';
import { cleaningOf, fieldOf, type ResourceRedaction, type Walk } from './redact-items.ts';

/** The fields without a column of an object with these fields. */
interface ExtraRedaction extends ResourceRedaction {
  readonly fields: Fields;
  /** Whether the object is an entity, which keeps its own names. Assumed: one whose declaration is an entity has a key. */
  readonly isEntity: boolean;
}

/**
 * The fields without a column, without the entity. The object of an answer that they come from loses the same. Objects and
 * lists that become empty are omitted, since the loader keeps none of a tombstone.
 */
export const redactExtra = (extra: JsonObject, { fields, isEntity, ...redaction }: ExtraRedaction): JsonObject =>
  mappedFields(extra, (name, value) => {
    if (isEntity && isOwnName(name, value, cleaningOf(redaction))) return [name, value];
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return cleanedEntry(name, value, cleaningOf(redaction));
    const left = undeclaredOf(field, value, redaction);
    return left === undefined ? undefined : [name, left];
  });

/** The rest of a value that a declared field has no column for; undefined if nothing is left. */
function undeclaredOf(field: Field, value: unknown, redaction: ResourceRedaction): unknown {
  const walk = { ...redaction, ...NO_REQUEST };
  if (field.shape === 'nested') return unlessTombstone(fieldOf(field, value, walk));
  if (!isObject(value)) return fieldOf(field, value, walk);
  if (field.shape === 'object')
    return unlessEmptied(
      value,
      redactExtra(value, { ...redaction, fields: field.fields, isEntity: field.observation !== undefined }),
    );
  if ((field.shape !== 'list' && field.shape !== 'nested-list') || !isByPosition(value))
    return fieldOf(field, value, walk);
  return unlessEmptied(
    value,
    mappedFields(value, (position, element) => {
      const [after] = fieldOf(field, [element], walk) as readonly unknown[];
      return isTombstone(after) ? undefined : [position, after];
    }),
  );
}

/** True if the object has elements of a list by position, as the fields without a column do. */
export const isByPosition = (value: JsonObject): boolean => Object.keys(value).every((it) => /^\d+$/.test(it));

const unlessTombstone = (value: unknown): unknown => (isTombstone(value) ? undefined : value);
const unlessEmptied = (before: JsonObject, after: JsonObject): JsonObject | undefined =>
  after !== before && Object.keys(after).length === 0 ? undefined : after;

/** Only keys that come from a request need it, and no object without a column has one. */
const NO_REQUEST: Pick<Walk, 'source' | 'position'> = {
  source: { sync: '', requestKey: '', request: {} },
  position: 0,
};
