/** Canonical text of JSON values, and digests of texts. */
import { hash } from 'node:crypto';

/** Deeper values overflow the call stack, or the stack of Postgres' jsonb parser (at 20,000 levels). */
const DEEPEST = 500;

/**
 * JSON with the keys of every object in code unit order: equal values give equal text. Throws a RangeError for a value
 * nested deeper than 500 levels.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value, 0));
}

function sorted(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value;
  if (depth >= DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) return value.map((inner) => sorted(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner, depth + 1)]),
  );
}

/** SHA-256, in hex, of a text. */
export const digestOf = (text: string): string => hash('sha256', text);
