/** Takes a forgotten entity out of values of unknown shape: undeclared fields, lists of anything, texts; pure. */
import { parseExact } from '../../service/exact-json.ts';
import { type Forgotten, isTombstone, tombstone } from '../../service/names/forgotten.ts';
import { urnOf } from '../../service/names/urn.ts';
import { isUrnOfForgotten } from './redact-request.ts';
import { isObject, type JsonObject } from '../scope.ts';

/** What is taken out, from which kind of things, and where objects that were the entity are reported. */
export interface Cleaning {
  readonly forgotten: Forgotten;
  /** Tables whose entities short names may mean; without, names are compared as texts that identify anywhere. */
  readonly tables?: readonly string[];
  readonly onFound?: (found: JsonObject) => void;
}

/**
 * The value without the entity: a tombstone for each object that is it, a pseudonym for each of its names. The very same
 * value when there was nothing to take out.
 */
export function cleaned(value: unknown, it: Cleaning): unknown {
  if (typeof value === 'string') return cleanText(value, it);
  if (Array.isArray(value))
    return sameOr(
      value,
      value.map((inner: unknown) => cleaned(inner, it)),
    );
  const digits = digitsOf(value);
  if (digits !== undefined) return it.forgotten.isTrace(digits) ? it.forgotten.pseudonym : value;
  if (!isObject(value) || isTombstone(value)) return value;
  const proof = proofOf(value, it);
  if (proof !== undefined) {
    // Under an alias, another may be shown beside it; under the URN, the other names are the entity's.
    if (proof === 'urn') it.onFound?.(namesIn(value));
    return tombstone();
  }
  const isOthers = isOther(value, it.forgotten);
  const after = Object.entries(value).map(([name, inner]): [string, unknown] => {
    if (isOthers && isOwnName(name, inner, it)) return [name, inner];
    return cleanedEntry(name, inner, it);
  });
  return after.every(([name, inner]) => Object.hasOwn(value, name) && value[name] === inner)
    ? value
    : Object.fromEntries(after);
}

/** A field of unknown meaning; what a name of the entity leads to is about the entity. */
export const cleanedEntry = (name: string, value: unknown, it: Cleaning): [string, unknown] =>
  isNameOf(name, it)
    ? [it.forgotten.pseudonym, isObject(value) ? tombstone() : cleaned(value, it)]
    : [it.forgotten.scrub(name), cleaned(value, it)];

const sameOr = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.every((value, at) => value === before[at]) ? before : after;

/** The text without the names: in JSON that it holds, in addresses that it encodes, and in its words. */
export function cleanText(text: string, it: Cleaning): string {
  if (isNameOf(text, it)) return it.forgotten.pseudonym;
  const json = jsonIn(text);
  if (json !== undefined) {
    const after = cleaned(json, it);
    if (after !== json) return JSON.stringify(after);
  }
  const after = it.forgotten.scrub(text);
  if (!after.includes('%')) return after;
  const decoded = after.replaceAll(ENCODED, (part) => decodedOr(part));
  const without = decoded === after ? after : it.forgotten.scrub(decoded);
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

/** Deeper texts are searched as words alone. */
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

/** True of a text that is one of the entity's names as a whole. */
function isNameOf(text: string, { forgotten, tables = [] }: Cleaning): boolean {
  if (text.length > LONGEST_NAME || text === '') return false;
  if (forgotten.isTrace(text)) return true;
  if (/\s/.test(text)) return false;
  if (tables.some((table) => forgotten.isName(table, text))) return true;
  const urn = urnOf(text);
  return urn !== undefined && isUrnOfForgotten({ ...urn }, forgotten);
}

const LONGEST_NAME = 4_000;

/** Fields by which services name the thing that an object is, without regard to case, hyphens and underscores. */
const SELF = new Set(
  'urn entityurn objecturn profileurn userurn id restid internalid userid profileid alias username userhandle handle screenname publicid publicidentifier vanityname url profileurl link permalink'.split(
    ' ',
  ),
);
const isSelf = (name: string): boolean => SELF.has(name.toLowerCase().replaceAll(/[-_]/g, ''));

/** What shows that an object is the entity. One whose own URN is another's is another, whatever its alias: they change hands. */
function proofOf(value: JsonObject, it: Cleaning): 'urn' | 'name' | undefined {
  const { forgotten } = it;
  if (isUrnOfForgotten(value, forgotten)) return 'urn';
  if (isOther(value, forgotten)) return undefined;
  const self = Object.entries(value).flatMap(([name, inner]) => (isSelf(name) ? [inner] : []));
  const urns = self.map((inner) => (typeof inner === 'string' ? urnOf(inner) : isObject(inner) ? inner : undefined));
  if (urns.some((urn) => urn !== undefined && isUrnOfForgotten({ ...urn }, forgotten))) return 'urn';
  return self.some((inner) => isNameOf(digitsOf(inner) ?? (typeof inner === 'string' ? inner : ''), it))
    ? 'name'
    : undefined;
}

/** Names by which others may call it; numbers of an object of unknown shape may count anything. */
const namesIn = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    ['alias', 'url', 'name'].flatMap((field) => (typeof value[field] === 'string' ? [[field, value[field]]] : [])),
  );

function isOther({ urn }: JsonObject, forgotten: Forgotten): boolean {
  const own = typeof urn === 'string' ? urnOf(urn) : isObject(urn) ? urn : undefined;
  if (!own) return false;
  const { type, value } = own;
  return (
    typeof type === 'string' &&
    typeof value === 'string' &&
    value !== '' &&
    !isUrnOfForgotten({ type, value }, forgotten)
  );
}

/** True of a name that another entity gives itself. */
export const isOwnName = (field: string, value: unknown, it: Cleaning): boolean =>
  (isSelf(field) || field === 'name') && typeof value === 'string' && isNameOf(value, it);

/** A number by its digits, as sent. */
function digitsOf(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && JSON.isRawJSON(value)) return value.rawJSON;
  return typeof value === 'number' ? String(value) : undefined;
}
