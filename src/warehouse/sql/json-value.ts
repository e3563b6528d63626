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

/**
 * The JSON value for the text of an SQL value of this type. A number that a double cannot represent exactly stays text.
 * An instant becomes RFC 3339 in UTC with microseconds. JSON is parsed, and bytes are hexadecimal.
 */
export function jsonValue(text: string | null, oid: number): JsonValue {
  if (text === null) return null;
  switch (oid) {
    case TYPE.bool:
      return text === 't';
    case TYPE.int2:
    case TYPE.int4:
    case TYPE.oid:
      return Number(text);
    case TYPE.int8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case TYPE.numeric:
      return numericValue(text);
    case TYPE.float4:
    case TYPE.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case TYPE.json:
    case TYPE.jsonb:
      return parseJson(text) as JsonValue;
    case TYPE.timestamptz:
      return text.replace(' ', 'T').replace(/\+00$/, 'Z');
    case TYPE.timestamp:
      return text.replace(' ', 'T');
    default: {
      const element = elementTypeOf(oid);
      return element === undefined ? text : elementsOf(splitArray(text), element);
    }
  }
}

function numericValue(text: string): JsonValue {
  const digits = text.replace(/^-?0*\.?0*/, '').replace('.', '');
  return Number.isFinite(Number(text)) && digits.length <= SAFE_DIGITS ? Number(text) : text;
}

const elementsOf = (values: readonly unknown[], oid: number): JsonValue[] =>
  values.map((it) => (Array.isArray(it) ? elementsOf(it, oid) : jsonValue(it as string | null, oid)));
