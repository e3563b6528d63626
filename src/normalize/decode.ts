/** From the bytes of an answer to its items, with every string safe for Postgres and every number exact. */

export type Decoded =
  | { readonly kind: 'items'; readonly items: readonly unknown[]; readonly lone: boolean }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The items of an answer: those of its array, or a lone object. Anything else has none, and the reason says why. */
export function decode(body: Uint8Array): Decoded {
  const text = new TextDecoder('utf-8').decode(body);
  if (text.trim() === '') return { kind: 'unreadable', reason: 'the body is empty, where a JSON array is due' };
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    return { kind: 'unreadable', reason: unreadable(text, error) };
  }
  if (Array.isArray(value)) return { kind: 'items', items: value, lone: false };
  if (value !== null && typeof value === 'object' && !JSON.isRawJSON(value))
    return { kind: 'items', items: [value], lone: true };
  return {
    kind: 'unreadable',
    reason: `the body is ${value === null ? 'null' : `a ${typeof value}`}, where a JSON array is due`,
  };
}

function unreadable(text: string, error: unknown): string {
  if (error instanceof RangeError) return 'the body is nested too deeply to be read';
  const start = text.trimStart();
  if (start.startsWith('<')) return 'the body is HTML or XML, where a JSON array is due';
  return start.startsWith('[') || start.startsWith('{')
    ? 'the body is cut off or not valid JSON'
    : 'the body is not JSON, where a JSON array is due';
}

/** Numbers of so many digits, or with so large an exponent, may not survive as a double. */
const MAY_LOSE_DIGITS = /[:,[\s]-?\d[\d.]{15}|\d[eE]\+?\d{2}/;
/** Only an escape can bring a NUL or a lone surrogate into a string: raw ones are no valid JSON or no valid UTF-8. */
const MAY_HARM = /\\u(?:0000|[dD][89a-fA-F])/;

function parse(text: string): unknown {
  const value: unknown = MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
  return MAY_HARM.test(text) ? scrub(value) : value;
}

const INTEGER = /^-?\d+$/;

/** Postgres' numeric ends at 131,072 digits; nobody counts so far, so a longer number is kept as text well before. */
const LONGEST_NUMBER = 400;
const LARGEST_EXPONENT = 1000;

/** Keeps the source text of a number that a double would round or overflow. */
function exactNumber(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const safe = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  const rounded = !safe || (INTEGER.test(context.source) && String(value) !== context.source && value !== 0);
  if (!rounded) return value;
  const exponent = Number(/[eE]\+?(\d+)$/.exec(context.source)?.[1] ?? 0);
  return context.source.length > LONGEST_NUMBER || exponent > LARGEST_EXPONENT
    ? context.source
    : JSON.rawJSON(context.source);
}

/** The same value with NULs dropped and lone surrogates replaced, in strings and in keys. */
export function scrub(value: unknown): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(scrub);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [scrubText(key), scrub(inner)]));
}

/** Postgres takes no NUL in text and no lone surrogate in jsonb. */
export const scrubText = (text: string): string => text.replaceAll('\0', '').toWellFormed();
