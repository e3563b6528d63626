/** JSON text into values with every number exact: one that a double would round keeps its digits. */
import { withoutTrailing } from './trailing.ts';

/**
 * Numbers of so many digits, or with so large an exponent, may not survive as a double. What stands around digits says
 * whether they are a number: in most texts they are a part of an address.
 */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|[\d.]+[eE][+-]?\d{2})[\d.eE+-]*(?:[,\]}\s]|$)/;

/** The value of a JSON text; a number that a double would round is raw JSON. Throws what `JSON.parse` throws. */
export const parseExact = (text: string): unknown =>
  MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);

/** Postgres' numeric ends at 131,072 digits; nobody counts so far, so a longer number is kept as text well before. */
const LONGEST_NUMBER = 1000;

function exactNumber(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const exact = plainDecimal(context.source);
  if (exact === undefined) return context.source;
  // Beyond 2^53 a double may hold the very number, but prints other digits for it.
  const holds = Number.isSafeInteger(value) || !Number.isInteger(value);
  return holds && plainDecimal(String(value)) === exact ? value : JSON.rawJSON(exact);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The number's digits without exponent or needless zeros, as jsonb prints them, so that what rests there and what was
 * sent compare equal; undefined when there are too many of them.
 */
function plainDecimal(source: string): string | undefined {
  const parts = NUMBER.exec(source);
  if (!parts) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const point = whole.length + Number(exponent);
  if (source.length + Math.abs(point) > 4 * LONGEST_NUMBER) return undefined;
  const digits = ('0'.repeat(Math.max(0, 1 - point)) + whole + fraction).padEnd(point, '0');
  const at = Math.max(1, point);
  const rest = withoutTrailing(digits.slice(at), '0');
  const plain = digits.slice(0, at).replace(/^0+(?=\d)/, '') + (rest === '' ? '' : `.${rest}`);
  if (plain.length > LONGEST_NUMBER) return undefined;
  return plain === '0' ? plain : sign + plain;
}
