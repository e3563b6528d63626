/** What makes two requests the same: the endpoint and the body with its defaults, whatever the order or the timeout. */
import { createHash } from 'node:crypto';
import type { RequestBody } from './asked.ts';
import type { Endpoint } from './endpoint.ts';

/** Deeper values fit neither the call stack nor Postgres' jsonb (20,000 levels exceed its stack). */
const DEEPEST = 500;

/**
 * JSON with the keys of every object in code unit order, so that equal values give equal text. Throws a RangeError for
 * a value nested deeper than 500 levels.
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

/**
 * The body that identifies a request: defaults filled in, null and absent alike, sets sorted, `timeout` left out.
 * Throws a ZodError when the body breaks the contract.
 */
export function canonicalRequest(endpoint: Endpoint, body: RequestBody): RequestBody {
  const filled = endpoint.request.parse(body);
  return Object.fromEntries(
    Object.entries(filled)
      .filter(([name, value]) => name !== 'timeout' && value !== null && value !== undefined)
      .map(([name, value]) => [name, endpoint.sets.includes(name) && Array.isArray(value) ? setOf(value) : value]),
  );
}

const setOf = (values: readonly unknown[]): unknown[] =>
  [...new Set(values)].toSorted((a, b) => (String(a) < String(b) ? -1 : 1));

/** SHA-256, in hex, of a text. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** SHA-256, in hex, of an endpoint's name and a canonical body. */
export const requestKeyOf = (endpointName: string, canonical: RequestBody): string =>
  digestOf(canonicalJson([endpointName, canonical]));
