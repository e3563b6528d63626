/** Parses faults from the command line. */
import { UsageError } from '../errors.ts';
import { catalog } from '../service/catalog.ts';
import type { Fault, FaultEffect, When } from './fault.ts';

/** The syntax of faults, for help and error messages. */
export const FAULT_SYNTAX = `KIND[=VALUE][:RATE][@NTH][/ENDPOINT], where KIND is
  a status (503, or 429=2 to send Retry-After: 2), slow=MS, cut[=BYTES], reset[=before|headers|body],
  malformed, html, empty, out-of-points[=401|402|403] or revoked`;

/** The faults of a comma-separated list; none for an empty text. Throws a UsageError. */
export const parseFaults = (text: string): Fault[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseFault);

/**
 * The fault of a text such as `503:0.05`, `slow=2000:0.1`, `out-of-points@40` or `cut@3/pronet.group`. Throws a
 * UsageError.
 */
export function parseFault(text: string): Fault {
  const parts = /^([a-z-]+|\d+)(?:=(.*?))?(?::([\d.]+%?))?(?:@(\d+))?(?:\/([a-z.]+))?$/.exec(text.trim());
  if (!parts) throw wrong(text, 'it does not have the syntax of a fault');
  const [, kind = '', value, rate, nth, endpoint] = parts;
  return { on: whenOf(text, rate, nth, endpoint), do: effectOf(text, kind, value) };
}

function whenOf(text: string, rate: string | undefined, nth: string | undefined, endpoint: string | undefined): When {
  if (endpoint !== undefined && !catalog.some(({ name }) => name === endpoint)) {
    throw wrong(text, `the endpoint ${endpoint} is unknown; allowed are ${catalog.map(({ name }) => name).join(', ')}`);
  }
  if (nth === '0') throw wrong(text, 'requests are counted from 1');
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(nth !== undefined && { nth: Number(nth) }),
    ...(rate !== undefined && { rate: shareOf(text, rate) }),
  };
}

function shareOf(text: string, rate: string): number {
  const share = rate.endsWith('%') ? Number(rate.slice(0, -1)) / 100 : Number(rate);
  if (share >= 0 && share <= 1) return share;
  throw wrong(text, `the rate ${rate} is not a number from 0 to 1`);
}

function effectOf(text: string, kind: string, value: string | undefined): FaultEffect {
  if (/^\d+$/.test(kind)) return statusOf(text, Number(kind), value);
  const parse = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (!parse) throw wrong(text, `the kind ${JSON.stringify(kind)} is unknown`);
  const effect = parse(value);
  if (effect) return effect;
  throw wrong(
    text,
    value === undefined ? `${kind} needs a value` : `${JSON.stringify(value)} is not a value of ${kind}`,
  );
}

function statusOf(text: string, status: number, retryAfter: string | undefined): FaultEffect {
  if (status < 200 || status > 599) throw wrong(text, `${status} is not a status from 200 to 599`);
  if (retryAfter === undefined) return { kind: 'status', status };
  return { kind: 'status', status, headers: { 'retry-after': retryAfter } };
}

type Parse = (value: string | undefined) => FaultEffect | undefined;

const KINDS: Readonly<Record<string, Parse>> = {
  slow: (value) => wholeNumber(value, (ms) => ({ kind: 'slow', ms })),
  cut: (value = '100') => wholeNumber(value, (afterBytes) => ({ kind: 'cut', afterBytes })),
  reset: (value = 'body') =>
    value === 'before' || value === 'headers' || value === 'body' ? { kind: 'reset', stage: value } : undefined,
  malformed: bare({ kind: 'malformed', body: '[{"@type": "@' }),
  html: bare({ kind: 'html' }),
  empty: bare({ kind: 'body', items: [] }),
  'out-of-points': (value = '401') =>
    value === '401' || value === '402' || value === '403'
      ? { kind: 'out_of_points', status: Number(value) as 401 | 402 | 403 }
      : undefined,
  revoked: bare({ kind: 'revoked' }),
};

function bare(effect: FaultEffect): Parse {
  return (value) => (value === undefined ? effect : undefined);
}

const wholeNumber = (value: string | undefined, to: (number: number) => FaultEffect): FaultEffect | undefined =>
  value !== undefined && /^\d+$/.test(value) ? to(Number(value)) : undefined;

const wrong = (text: string, why: string): UsageError =>
  new UsageError(`The fault ${JSON.stringify(text)} is not valid: ${why}.`, {
    next: `Write ${FAULT_SYNTAX}.`,
  });
