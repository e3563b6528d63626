/** Parses JSON without losing digits or keys: a number that a double would round keeps its exact digits. */
import { type NumberSource, parseJsonText } from './read-json.ts';
import { withoutTrailing } from './trailing.ts';

/**
 * Matches numbers with so many digits, or with so large an exponent, that a double may round them. The characters
 * around the digits must be those around a JSON number: in most texts, long digits are part of an address.
 */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|[\d.]+[eE][+-]?\d{2})[\d.eE+-]*(?:[,\]}\s]|$)/;

/**
 * The value of a JSON text, with raw JSON for each number that a double would round. Throws what `JSON.parse` throws.
 */
export const parseExact = (text: string): unknown =>
  parseJsonText(text, MAY_LOSE_DIGITS.test(text) ? exactNumber : undefined);

/** Postgres' numeric holds 131,072 digits. Real values are far below, so longer numbers are kept as text. */
const LONGEST_NUMBER = 1000;

function exactNumber(_key: string, value: unknown, context?: NumberSource): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const exact = plainDecimal(context.source);
  if (exact === undefined) return context.source;
  // Beyond 2^53 a double may hold the exact number, but it prints other digits.
  const isExact = Number.isSafeInteger(value) || !Number.isInteger(value);
  return isExact && plainDecimal(String(value)) === exact ? value : JSON.rawJSON(exact);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The number without exponent and needless zeros, as jsonb prints it, so that stored and received numbers compare
 * equal. Undefined if it has too many digits.
 */
function plainDecimal(source: string): string | undefined {
  const parts = NUMBER.exec(source);
  if (!parts) return undefined;
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = parts;
  const point = integer.length + Number(exponent);
  if (source.length + Math.abs(point) > 4 * LONGEST_NUMBER) return undefined;
  const digits = ('0'.repeat(Math.max(0, 1 - point)) + integer + fraction).padEnd(point, '0');
  const pointIndex = Math.max(1, point);
  const rest = withoutTrailing(digits.slice(pointIndex), '0');
  const plain = digits.slice(0, pointIndex).replace(/^0+(?=\d)/, '') + (rest === '' ? '' : `.${rest}`);
  if (plain.length > LONGEST_NUMBER) return undefined;
  return plain === '0' ? plain : sign + plain;
}
