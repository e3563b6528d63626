/** Talks to a sandbox over its socket, and starts sandboxes that end with their test. */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { Item, LogRow } from './items.ts';

export interface Reply<T = Item> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: unknown;
  /** The parsed body when it is an array, else nothing. */
  readonly items: readonly T[];
}

/** The day of the tests' requests (default). */
export const TODAY = new Date('2026-03-02T09:30:00.250Z');

/** UUIDs that count upwards. */
export function countingIds(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
}

/** A sandbox with a stopped clock, closed when the test ends. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await serveSandbox({ seed: 7, now: () => TODAY, newId: countingIds(), ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

export const pathOf = (endpoint: string): string => catalog.find(({ name }) => name === endpoint)?.path ?? endpoint;

/** Sends a body, as JSON unless it is a text, to an endpoint by its name or path. */
export async function ask<T = Item>(
  sandbox: Pick<Sandbox, 'url'>,
  endpoint: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply<T>> {
  const response = await fetch(sandbox.url + pathOf(endpoint), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'access-token': SANDBOX_TOKEN, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return replyOf(response);
}

/** One page of the request log. */
export async function askLog(
  sandbox: Pick<Sandbox, 'url'>,
  query: Readonly<Record<string, string>> = {},
): Promise<Reply<LogRow>> {
  const response = await fetch(`${sandbox.url}/token/requests?${new URLSearchParams(query).toString()}`, {
    headers: { 'access-token': SANDBOX_TOKEN },
  });
  return replyOf(response);
}

async function replyOf<T>(response: Response): Promise<Reply<T>> {
  const text = await response.text();
  const json = parsed(text);
  return {
    status: response.status,
    headers: response.headers,
    text,
    json,
    items: Array.isArray(json) ? (json as T[]) : [],
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
