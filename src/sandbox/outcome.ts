/** Answers with their cost, before they are sent. */
import type { FaultEffect } from './fault.ts';
import type { SandboxRefusal } from './refusal.ts';

export interface SandboxOutcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Items in the body; null if the body is not an array. */
  readonly count: number | null;
  readonly cost: number;
}

const HTML =
  '<!DOCTYPE html>\n<html><head><title>One moment</title></head><body><h1>One moment, please</h1></body></html>\n';

/** An answer with this body: texts and buffers unchanged, other values as JSON. Its cost is set later. */
export function outcomeOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): SandboxOutcome {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers, body: bytes, count: countOf(body), cost: 0 };
}

/** The answer for a refusal. */
export function refused({ status, detail, error, headers = {} }: SandboxRefusal): SandboxOutcome {
  return outcomeOf(status, { detail }, { ...headers, ...(error !== undefined && { 'x-error': error }) });
}

/** The answer that a fault sends instead of the right one; undefined if the right one is sent. */
export function replaced(effect: FaultEffect): SandboxOutcome | undefined {
  switch (effect.kind) {
    case 'status':
      return outcomeOf(
        effect.status,
        effect.body ?? { detail: `Status ${effect.status}, injected as a fault` },
        effect.headers,
      );
    case 'malformed':
      return outcomeOf(200, effect.body);
    case 'html':
      return outcomeOf(200, HTML, { 'content-type': 'text/html; charset=utf-8' });
    case 'redirect':
      return outcomeOf(302, '', { location: effect.to });
    case 'body':
      return outcomeOf(200, JSON.stringify(effect.items));
    case 'slow':
    case 'cut':
    case 'reset':
    case 'out_of_points':
    case 'revoked':
      return undefined;
  }
}

/** The log's error text for an answer; null for a success. */
export const errorTextOf = ({ status, body }: SandboxOutcome): string | null =>
  status < 400 ? null : body.subarray(0, 1_000).toString('utf8');

function countOf(body: unknown): number | null {
  if (Array.isArray(body)) return body.length;
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return null;
  try {
    const parsed: unknown = JSON.parse(String(body));
    return Array.isArray(parsed) ? parsed.length : null;
  } catch {
    return null;
  }
}
