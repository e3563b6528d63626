/** Validates requests against the contract and locates each violation. */
import type * as z from 'zod';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { type SandboxRefusal, unprocessable, type Violation } from './refusal.ts';

/** The request with its defaults, or its refusal. */
export type Validated = { readonly request: RequestBody } | { readonly refusal: SandboxRefusal };

/** Validates a body against the endpoint's contract. */
export function validateBody(endpoint: Endpoint, text: string): Validated {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    const msg = error instanceof Error ? error.message : 'invalid JSON';
    return { refusal: unprocessable([{ loc: ['body'], msg: `JSON decode error: ${msg}`, type: 'json_invalid' }]) };
  }
  return validate(endpoint, body, 'body');
}

/** Validates a query against the endpoint's contract. Its numbers arrive as text. */
export function validateQuery(endpoint: Endpoint, query: URLSearchParams): Validated {
  const names = [...new Set(query.keys())];
  const values = names.map((name) => {
    const all = query.getAll(name);
    return [name, all.length === 1 ? valueOf(endpoint, name, all[0] as string) : all];
  });
  return validate(endpoint, Object.fromEntries(values), 'query');
}

function valueOf(endpoint: Endpoint, name: string, text: string): unknown {
  const schema = endpoint.request.shape[name] as z.ZodType | undefined;
  const isNumber = /^-?\d+$/.test(text) && schema !== undefined && !schema.safeParse(text).success;
  return isNumber ? Number(text) : text;
}

function validate(endpoint: Endpoint, input: unknown, location: 'body' | 'query'): Validated {
  const result = endpoint.request.safeParse(input);
  if (result.success) return { request: result.data };
  const violations = result.error.issues.flatMap((issue) => violationsOf(issue, input, location));
  return { refusal: unprocessable(firstOfEachLocation(violations)) };
}

const firstOfEachLocation = (violations: readonly Violation[]): Violation[] =>
  [
    ...new Map(violations.toReversed().map((violation) => [JSON.stringify(violation.loc), violation])).values(),
  ].toReversed();

function violationsOf(issue: z.core.$ZodIssue, input: unknown, location: string): Violation[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const loc = [location, ...path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, key],
      msg: 'Extra inputs are not permitted',
      type: 'extra_forbidden',
    }));
  }
  if (valueAt(input, path) === undefined) return [{ loc, msg: 'Field required', type: 'missing' }];
  return [{ loc, msg: issue.message, type: issue.code }];
}

const valueAt = (input: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      value !== null && typeof value === 'object' ? (value as Record<string | number, unknown>)[part] : undefined,
    input,
  );
