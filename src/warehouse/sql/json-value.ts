/** Converts SQL values to JSON values, for results that people and programs read. */
import { elementTypeOf, TYPE } from './type-oids.ts';
import { parseJson, splitArray } from './values.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** The number of decimal digits that a double always keeps. */
const SAFE_DIGITS = 15;

type Reader = (text: string) => JsonValue;

const numberIf =
  (isExact: (value: number) => boolean): Reader =>
  (text) =>
    isExact(Number(text)) ? Number(text) : text;

/** How the text of a type is read. Other types are text, or arrays of these. */
const READERS: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [TYPE.BOOL, (text) => text === 't'],
  [TYPE.INT2, Number],
  [TYPE.INT4, Number],
  [TYPE.OID, Number],
  [TYPE.INT8, numberIf(Number.isSafeInteger)],
  [TYPE.NUMERIC, numericValue],
  [TYPE.FLOAT4, numberIf(Number.isFinite)],
  [TYPE.FLOAT8, numberIf(Number.isFinite)],
  [TYPE.JSON, (text) => parseJson(text) as JsonValue],
  [TYPE.JSONB, (text) => parseJson(text) as JsonValue],
  [TYPE.TIMESTAMPTZ, (text) => text.replace(' ', 'T').replace(/\+00$/, 'Z')],
  [TYPE.TIMESTAMP, (text) => text.replace(' ', 'T')],
]);

/**
 * The JSON value for the text of an SQL value of this type. A number that a double cannot represent exactly stays text.
 * An instant becomes RFC 3339 in UTC with microseconds. JSON is parsed, and bytes are hexadecimal.
 */
export function jsonValue(text: string | null, oid: number): JsonValue {
  if (text === null) return null;
  const read = READERS.get(oid);
  if (read) return read(text);
  const element = elementTypeOf(oid);
  return element === undefined ? text : elementsOf(splitArray(text), element);
}

/**
 * The same value, except that a number, JSON or an array is a text with the digits of the database, because a JavaScript
 * number would round them. The text of an array is JSON.
 */
export function exactValue(text: string | null, oid: number): JsonValue {
  if (oid === TYPE.JSON || oid === TYPE.JSONB || text === null) return text;
  const element = elementTypeOf(oid);
  if (element !== undefined) return exactArray(splitArray(text), element);
  const value = jsonValue(text, oid);
  return typeof value === 'number' ? text : value;
}

const exactArray = (values: readonly unknown[], oid: number): string =>
  `[${values.map((it) => (Array.isArray(it) ? exactArray(it, oid) : exactElement(it as string | null, oid))).join(',')}]`;

/** Numbers and JSON as the database prints them. Postgres also knows numbers that JSON does not, such as NaN. */
function exactElement(text: string | null, oid: number): string {
  const value = jsonValue(text, oid);
  const isNumber = typeof value === 'number' || oid === TYPE.INT8 || (oid === TYPE.NUMERIC && /\d/.test(text ?? ''));
  return text !== null && (isNumber || oid === TYPE.JSON || oid === TYPE.JSONB) ? text : JSON.stringify(value);
}

/** The smallest number that a double holds with all its digits. */
const SMALLEST = 2 ** -1022;

function numericValue(text: string): JsonValue {
  const digits = text.replace(/^-?0*\.?0*/, '').replace('.', '');
  const value = Number(text);
  const isInRange = Number.isFinite(value) && (digits === '' || Math.abs(value) >= SMALLEST);
  return isInRange && digits.length <= SAFE_DIGITS ? value : text;
}

const elementsOf = (values: readonly unknown[], oid: number): JsonValue[] =>
  values.map((it) => (Array.isArray(it) ? elementsOf(it, oid) : jsonValue(it as string | null, oid)));
