/**
 * Converts SQL values to JavaScript values and back, in the same way for both kinds of warehouse.
 *
 * - bigint and numeric are text, because a number would round them.
 * - date, timestamp and interval are text as Postgres prints them.
 * - timestamptz is a Date; select `::text` if microseconds matter.
 * - bytea is a Buffer.
 * - json is parsed. Integers above 2^53, and numbers that no double can hold, become text; fractions are rounded to a double.
 * - Every other type is text.
 */
import { types } from 'pg';
import { type NumberSource, parseJsonText } from '../../service/read-json.ts';
import { elementTypeOf, TYPE } from './type-oids.ts';

type Parse = (text: string) => unknown;

const raw: Parse = (text) => text;
/** The parser of the server driver for this type. */
const driverParser = (oid: number): Parse => types.getTypeParser(oid, 'text') as Parse;

/** A reviver for JSON.parse that returns the digits of a number as text if it is beyond a double or the safe integers. */
function exact(_key: string, value: unknown, context?: NumberSource): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  const rounded = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  return rounded ? source : value;
}

/** The value of a JSON text. An integer above 2^53 becomes the text of its digits. */
export function parseJson(text: string): unknown {
  // The reviver makes parsing ten times slower, and only numbers of this length need it.
  return parseJsonText(text, /\d{16}|\d[eE]/.test(text) ? exact : undefined);
}

const SCALARS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [TYPE.BOOL, (text) => text === 't'],
  [TYPE.INT2, Number],
  [TYPE.INT4, Number],
  [TYPE.OID, Number],
  [TYPE.FLOAT4, Number],
  [TYPE.FLOAT8, Number],
  [TYPE.TIMESTAMPTZ, driverParser(TYPE.TIMESTAMPTZ)],
  [TYPE.BYTEA, driverParser(TYPE.BYTEA)],
  [TYPE.JSON, parseJson],
  [TYPE.JSONB, parseJson],
]);

/** The elements of an array literal, with its nesting. */
export const splitArray = driverParser(1009) as (text: string) => unknown[];

function parseArray(element: Parse): Parse {
  const each = (values: readonly unknown[]): unknown[] =>
    values.map((it) => (Array.isArray(it) ? each(it) : typeof it === 'string' ? element(it) : it));
  return (text) => each(splitArray(text));
}

/** The function that converts the text of a value of this type to a JavaScript value. */
export function parserFor(oid: number): Parse {
  const element = elementTypeOf(oid);
  if (element !== undefined) return parseArray(SCALARS.get(element) ?? raw);
  return SCALARS.get(oid) ?? raw;
}

/** The text of a parameter as `pg` sends it, so that statements work with both kinds of warehouse. */
export function parameterText(value: unknown): string | null {
  if (value == null) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return bytesText(value);
  if (Array.isArray(value)) return arrayText(value);
  return JSON.stringify(value);
}

const bytesText = (bytes: ArrayBufferView): string =>
  `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;

function arrayText(values: readonly unknown[]): string {
  return `{${values.map((it) => (Array.isArray(it) ? arrayText(it) : elementText(it))).join(',')}}`;
}

function elementText(value: unknown): string {
  const text = parameterText(value);
  return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
