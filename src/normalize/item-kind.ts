/** Decides whether a value of an answer is an item of the expected resource, or something else, such as an error. */
import { memoizeByObject } from '../async/memoize.ts';
import type { Resource } from '../service/model.ts';
import { isTombstone } from '../service/names/forgotten.ts';
import { isKeyedByQuestion } from '../service/resource.ts';
import { isObject, type JsonObject } from './scope.ts';

const describe = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

/** The field names in answers; values from the request are not among them. */
const wireNames = memoizeByObject(
  (resource: Resource): ReadonlySet<string> =>
    new Set(Object.entries(resource.fields).flatMap(([name, { shape }]) => (shape === 'given' ? [] : [name]))),
);

/** What a body of a single object lacks to be an item; undefined for an array, and if it may be one. */
export const lackingInLone = (
  { lone, items: [item] }: { readonly lone: boolean; readonly items: readonly unknown[] },
  resource: Resource,
): string | undefined => (lone && isObject(item) ? lackingIn(item, resource) : undefined);

/** Why an element of the answer is no item; undefined if it may be one. */
export function otherKindOf(item: unknown, resource: Resource): string | undefined {
  if (!isObject(item)) return `not a ${resource.name}: found ${describe(item)}`;
  const lacking = lackingIn(item, resource);
  return lacking === undefined || hasOnlyFieldsOf(item, resource)
    ? undefined
    : `not a ${resource.name}: it lacks ${lacking}`;
}

/** True if the object has fields of the item and no others. An error object has others. */
function hasOnlyFieldsOf(item: JsonObject, resource: Resource): boolean {
  const names = Object.keys(item).filter((name) => name !== '@type');
  return names.length > 0 && names.every((name) => wireNames(resource).has(name));
}

/**
 * What an object lacks to be an item; undefined if it may be one. If the request is the key, the object needs the tag or a
 * field that each item has. Otherwise an error with a title would replace a page.
 */
function lackingIn(item: JsonObject, resource: Resource): string | undefined {
  if (isTombstone(item)) return undefined;
  const known = wireNames(resource);
  if (!Object.keys(item).some((name) => known.has(name))) return `any field of ${resource.name}`;
  if (!isKeyedByQuestion(resource) || item['@type'] === resource.tag) return undefined;
  const isPresent = Object.entries(resource.fields).some(
    ([name, field]) => field.shape !== 'given' && field.required && (item[name] ?? null) !== null,
  );
  return isPresent ? undefined : `any field that each ${resource.name} has`;
}
