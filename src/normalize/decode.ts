/** From the bytes of an answer to its items, with every string safe for Postgres and every number exact. */
import { parseExact } from '../service/exact-json.ts';

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

/** Only an escape can bring a NUL or a lone surrogate into a string: raw ones are no valid JSON or no valid UTF-8. */
const MAY_HARM = /\\u(?:0000|[dD][89a-fA-F])/;

function parse(text: string): unknown {
  const value = parseExact(text);
  return MAY_HARM.test(text) ? scrub(value) : value;
}

/** The same value with NULs dropped and lone surrogates replaced, in strings and in keys. */
function scrub(value: unknown): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(scrub);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [scrubText(key), scrub(inner)]));
}

/** Postgres takes no NUL in text and no lone surrogate in jsonb. */
const scrubText = (text: string): string => text.replaceAll('\0', '').toWellFormed();
