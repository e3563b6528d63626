/** Decodes an answer's bytes to its items. Postgres can store every string, and every number is exact. */
import { parseExact } from '../service/exact-json.ts';

export type Decoded =
  | { readonly kind: 'items'; readonly items: readonly unknown[]; readonly lone: boolean }
  | { readonly kind: 'unreadable'; readonly reason: string };

const UTF8 = new TextDecoder('utf-8');

/**
 * The items of an answer: the elements of its array, or a single object. For any other body, the reason why it has
 * none.
 */
export function decode(body: Uint8Array): Decoded {
  const text = UTF8.decode(body);
  if (text.trim() === '') return { kind: 'unreadable', reason: 'the body is empty; expected a JSON array' };
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
    reason: `the body is ${value === null ? 'null' : `a ${typeof value}`}; expected a JSON array`,
  };
}

function unreadable(text: string, error: unknown): string {
  if (error instanceof RangeError) return 'the body is nested too deeply';
  const start = text.trimStart();
  if (start.startsWith('<')) return 'the body is HTML or XML; expected a JSON array';
  return start.startsWith('[') || start.startsWith('{')
    ? 'the body is cut off or not valid JSON'
    : 'the body is not JSON; expected a JSON array';
}

/** Only an escape can put a NUL or a lone surrogate into a string: unescaped ones are not valid JSON or UTF-8. */
const MAY_HARM = /\\u(?:0000|[dD][89a-fA-F])/;

function parse(text: string): unknown {
  const value = parseExact(text);
  return MAY_HARM.test(text) ? scrub(value) : value;
}

/** The same value without NULs and with lone surrogates replaced, in strings and keys. */
function scrub(value: unknown): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(scrub);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [scrubText(key), scrub(inner)]));
}

/** Postgres rejects NUL in text and lone surrogates in jsonb. */
const scrubText = (text: string): string => text.replaceAll('\0', '').toWellFormed();
