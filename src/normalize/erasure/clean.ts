/** Removes a forgotten entity from values of unknown shape: undeclared fields, lists of anything, texts. Pure. */
import { parseExact } from '../../service/exact-json.ts';
import { type Forgotten, isTombstone, tombstone } from '../../service/names/forgotten.ts';
import { isUrnOfForgotten, urnIn } from './forgotten-urn.ts';
import { isObject, type JsonObject, numberText } from '../scope.ts';

/** What to remove, in which tables' entities, and a callback for each object that was the entity. */
export interface Cleaning {
  readonly forgotten: Forgotten;
  /**
   * Tables whose entities short names may refer to. Without them, a name counts only if it identifies the entity
   * anywhere.
   */
  readonly tables?: readonly string[];
  readonly onFound?: (found: JsonObject) => void;
}

/**
 * The value without the entity: each object that is the entity becomes a tombstone, each of its names a pseudonym.
 * Returns the identical value if there is nothing to remove.
 */
export function cleaned(value: unknown, cleaning: Cleaning): unknown {
  if (typeof value === 'string') return cleanText(value, cleaning);
  if (Array.isArray(value)) return mapped(value, (inner: unknown) => cleaned(inner, cleaning));
  const digits = numberText(value);
  if (digits !== undefined) return cleaning.forgotten.isTrace(digits) ? cleaning.forgotten.pseudonymFor(digits) : value;
  if (!isObject(value) || isTombstone(value)) return value;
  const proof = proofOf(value, cleaning);
  if (proof !== undefined) {
    // An object found by alias may show names of another entity. An object found by URN has only the entity's names.
    if (proof === 'urn') cleaning.onFound?.(namesIn(value));
    return tombstone();
  }
  const isOtherEntity = isOther(value, cleaning.forgotten);
  return mappedFields(value, (name, inner) =>
    isOtherEntity && isOwnName(name, inner, cleaning) ? [name, inner] : cleanedEntry(name, inner, cleaning),
  );
}

/** A field of unknown meaning. If the field's name is a name of the entity, its value is about the entity. */
export const cleanedEntry = (name: string, value: unknown, cleaning: Cleaning): [string, unknown] =>
  isNameOf(name, cleaning)
    ? [cleaning.forgotten.pseudonymFor(name), isObject(value) ? tombstone() : cleaned(value, cleaning)]
    : [cleaning.forgotten.scrub(name), cleaned(value, cleaning)];

/** The results, or the same array if no element changes. */
export function mapped<T>(values: readonly T[], of: (value: T, at: number) => unknown): readonly unknown[] {
  const after = values.map(of);
  return after.every((value, at) => value === values[at]) ? values : after;
}

/** The object with the results, without the fields that have none, or the same object if no field changes. */
export function mappedFields(
  wire: JsonObject,
  of: (name: string, value: unknown) => [string, unknown] | undefined,
): JsonObject {
  const after = Object.entries(wire).map(([name, value]) => of(name, value));
  return after.every((it) => it && Object.hasOwn(wire, it[0]) && it[1] === wire[it[0]])
    ? wire
    : Object.fromEntries(after.filter((it) => it !== undefined));
}

/** The text without the names, including names in embedded JSON and in percent-encoded parts. */
export function cleanText(text: string, cleaning: Cleaning): string {
  if (isNameOf(text, cleaning)) return cleaning.forgotten.pseudonymFor(text);
  const json = jsonIn(text);
  if (json !== undefined) {
    const after = cleaned(json, cleaning);
    if (after !== json) return JSON.stringify(after);
  }
  const after = cleaning.forgotten.scrub(text);
  if (!after.includes('%')) return after;
  const decoded = after.replaceAll(ENCODED, (part) => decodedOr(part));
  const without = decoded === after ? after : cleaning.forgotten.scrub(decoded);
  return without === decoded ? after : without;
}

const ENCODED = /(?:%[0-9a-fA-F]{2})+/g;

function decodedOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Longer texts are not parsed: their words are searched. */
const LONGEST_JSON = 1_000_000;

function jsonIn(text: string): unknown {
  const [first = '', last = ''] = [text.trimStart()[0], text.at(-1)];
  if (!'{["'.includes(first) || first === '' || !/[\]}"\s]/.test(last) || text.length > LONGEST_JSON) return undefined;
  try {
    const value = parseExact(text);
    return typeof value === 'object' || typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True if the complete text is one of the entity's names. */
function isNameOf(text: string, { forgotten, tables = [] }: Cleaning): boolean {
  if (text.length > LONGEST_NAME || text === '') return false;
  if (forgotten.isTrace(text)) return true;
  if (/\s/.test(text)) return false;
  return tables.some((table) => forgotten.isName(table, text)) || isUrnOfForgotten(text, forgotten);
}

const LONGEST_NAME = 4_000;

/**
 * Assumed: fields that services use to name an object that the contract does not declare, compared without case, hyphens
 * and underscores.
 */
const SELF = new Set(
  'urn entityurn objecturn profileurn userurn id restid internalid userid profileid alias username userhandle handle screenname publicid publicidentifier vanityname url profileurl link permalink'.split(
    ' ',
  ),
);
const isSelf = (name: string): boolean => SELF.has(name.toLowerCase().replaceAll(/[-_]/g, ''));

/**
 * The evidence that an object is the entity. An object with another URN is another entity, even with the same alias,
 * since aliases can change hands.
 */
function proofOf(value: JsonObject, cleaning: Cleaning): 'urn' | 'name' | undefined {
  const { forgotten } = cleaning;
  if (isUrnOfForgotten(value, forgotten)) return 'urn';
  if (isOther(value, forgotten)) return undefined;
  const self = Object.entries(value).flatMap(([name, inner]) => (isSelf(name) ? [inner] : []));
  if (self.some((inner) => isUrnOfForgotten(inner, forgotten))) return 'urn';
  return self.some((inner) => isNameOf(numberText(inner) ?? (typeof inner === 'string' ? inner : ''), cleaning))
    ? 'name'
    : undefined;
}

/** Assumed: the names that other texts may use for such an object. Numbers are excluded, since their meaning is unknown. */
const namesIn = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    ['alias', 'url', 'name'].flatMap((field) => (typeof value[field] === 'string' ? [[field, value[field]]] : [])),
  );

function isOther({ urn }: JsonObject, forgotten: Forgotten): boolean {
  const { type, value } = urnIn(urn);
  return typeof type === 'string' && typeof value === 'string' && value !== '' && !isUrnOfForgotten(urn, forgotten);
}

/** True if the field holds a name that another entity has for itself. */
export const isOwnName = (field: string, value: unknown, cleaning: Cleaning): boolean =>
  (isSelf(field) || field === 'name') && typeof value === 'string' && isNameOf(value, cleaning);
