/**
 * How SQL values become JavaScript values and back, the same for both kinds of warehouse.
 *
 * bigint and numeric are text, because a number would round them; date, timestamp and interval are text as Postgres
 * prints them; timestamptz is a Date (select `::text` where microseconds matter); bytea is a Buffer; json is parsed,
 * with the numbers that would round as text; every other type is its text.
 */
import { types } from 'pg';

type Parse = (text: string) => unknown;

const raw: Parse = (text) => text;
const parseMoment = types.getTypeParser(types.builtins.TIMESTAMPTZ, 'text') as Parse;
const parseBytes = types.getTypeParser(types.builtins.BYTEA, 'text') as Parse;

/** A number that JSON.parse would round keeps its digits as text. */
function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value;
}

/** The value of a JSON text; a whole number above 2^53 is the text of its digits. */
export function parseJson(text: string): unknown {
  // The reviver costs ten times the parse, and only numbers this long can need it.
  return /\d{16}|\d[eE]/.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

const SCALARS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [types.builtins.BOOL, (text) => text === 't'],
  [types.builtins.INT2, Number],
  [types.builtins.INT4, Number],
  [types.builtins.OID, Number],
  [types.builtins.FLOAT4, Number],
  [types.builtins.FLOAT8, Number],
  [types.builtins.TIMESTAMPTZ, parseMoment],
  [types.builtins.BYTEA, parseBytes],
  [types.builtins.JSON, parseJson],
  [types.builtins.JSONB, parseJson],
]);

/** Types of arrays, with the type of their elements. */
const ARRAYS: ReadonlyMap<number, number> = new Map<number, number>([
  [1000, types.builtins.BOOL],
  [1001, types.builtins.BYTEA],
  [1002, types.builtins.CHAR],
  [1003, 19],
  [1005, types.builtins.INT2],
  [1007, types.builtins.INT4],
  [1009, types.builtins.TEXT],
  [1014, types.builtins.BPCHAR],
  [1015, types.builtins.VARCHAR],
  [1016, types.builtins.INT8],
  [1021, types.builtins.FLOAT4],
  [1022, types.builtins.FLOAT8],
  [1028, types.builtins.OID],
  [1115, types.builtins.TIMESTAMP],
  [1182, types.builtins.DATE],
  [1185, types.builtins.TIMESTAMPTZ],
  [1231, types.builtins.NUMERIC],
  [199, types.builtins.JSON],
  [2951, types.builtins.UUID],
  [3807, types.builtins.JSONB],
]);

/** The elements of an array’s text, nested as it is. */
export const splitArray = types.getTypeParser(1009 as never, 'text') as (text: string) => unknown[];

/** The type of an array type’s elements; undefined of every other type. */
export const elementTypeOf = (oid: number): number | undefined => ARRAYS.get(oid);

function parseArray(element: Parse): Parse {
  const each = (values: readonly unknown[]): unknown[] =>
    values.map((it) => (Array.isArray(it) ? each(it) : typeof it === 'string' ? element(it) : it));
  return (text) => each(splitArray(text));
}

/** What turns the text of a value of this type into a JavaScript value. */
export function parserFor(oid: number): Parse {
  const element = ARRAYS.get(oid);
  if (element !== undefined) return parseArray(SCALARS.get(element) ?? raw);
  return SCALARS.get(oid) ?? raw;
}

/** The text of a parameter, the same as `pg` sends, so that a statement that works on one kind works on the other. */
export function parameterText(value: unknown): string | null {
  if (value == null) return null;
  if (typeof value !== 'object') return String(value as string | number | boolean | bigint);
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
