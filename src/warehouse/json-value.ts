/** SQL values as JSON has them, for results that people and programs read. */
import { types } from 'pg';
import { elementTypeOf, parseJson, splitArray } from './values.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

const { BOOL, FLOAT4, FLOAT8, INT2, INT4, INT8, JSON: JSON_OID, JSONB, NUMERIC, OID, TIMESTAMP, TIMESTAMPTZ } = types.builtins;

/** A double holds so many decimal digits whatever they are. */
const SAFE_DIGITS = 15;

/**
 * The JSON value for the text of an SQL value of this type: a number only where it is exact, else its digits as text;
 * an instant in RFC 3339, in UTC as the session prints it, with its microseconds; JSON as it is; bytes in hexadecimal.
 */
export function jsonValue(text: string | null, oid: number): JsonValue {
  if (text === null) return null;
  switch (oid) {
    case BOOL:
      return text === 't';
    case INT2:
    case INT4:
    case OID:
      return Number(text);
    case INT8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case NUMERIC:
      return numericValue(text);
    case FLOAT4:
    case FLOAT8:
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case JSON_OID:
    case JSONB:
      return parseJson(text) as JsonValue;
    case TIMESTAMPTZ:
      return text.replace(' ', 'T').replace(/\+00$/, 'Z');
    case TIMESTAMP:
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
