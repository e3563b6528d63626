/** A console over a warehouse that is open, and requests to it over a real socket. */
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { consoleSource } from '../../src/cli/commands/ui/console-source.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Config } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createRedactor } from '../../src/telemetry/redact-secrets.ts';
import { type ConsoleFailure, type ConsoleSource, serveConsole } from '../../src/ui/serve.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

export interface Console {
  readonly url: string;
  /** Failures that are not the user's. */
  readonly failures: readonly ConsoleFailure[];
  readonly close: () => Promise<void>;
}

export interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export const quickstart = (): Promise<Config> =>
  loadConfig('configs/quickstart.yaml', { SLUICE_SERVICE_TOKEN: 'canary-token' });

/** A console that reads this warehouse and is closed after the test. */
export async function openConsole(warehouse: Warehouse, replaced: Partial<ConsoleSource> = {}): Promise<Console> {
  const config = await quickstart();
  const redactor = createRedactor(['canary-token']);
  const failures: ConsoleFailure[] = [];
  const context = { redactor, now: () => new Date(), signal: new AbortController().signal } as unknown as Context;
  const served = await serveConsole(
    { host: '127.0.0.1', port: 0 },
    {
      ...consoleSource(context, config, []),
      read: (work) => work(warehouse),
      readers: warehouse.kind === 'embedded' ? 1 : 4,
      onFailure: (failure) => failures.push(failure),
      ...replaced,
    },
  );
  onTestFinished(served.close);
  return { ...served, failures };
}

/** The response to a request. */
export async function ask({ url }: Pick<Console, 'url'>, path: string, sent: Sent = {}): Promise<Got> {
  const { method = 'GET', headers = {}, body, signal } = sent;
  // The path is sent as it is; a URL would correct it.
  const { hostname, port } = new URL(url);
  const request = openRequest({
    hostname: hostname.replaceAll(/[[\]]/g, ''),
    port,
    path,
    method,
    headers,
    agent: false,
    ...(signal && { signal }),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The token in the form of the SQL page. */
export async function formToken(console: Pick<Console, 'url'>): Promise<string> {
  const { body } = await ask(console, '/sql');
  return /name="token" value="([^"]+)"/.exec(body)?.[1] ?? '';
}

/** Sends the form of the SQL page, as a browser does. */
export async function sendForm(
  console: Pick<Console, 'url'>,
  fields: Readonly<Record<string, string>>,
  { headers = {}, signal }: Pick<Sent, 'headers' | 'signal'> = {},
): Promise<Got> {
  const token = fields['token'] ?? (await formToken(console));
  return ask(console, '/sql', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin: 'null',
      ...headers,
    },
    body: new URLSearchParams({ as: 'table', ...fields, token }).toString(),
    ...(signal && { signal }),
  });
}

/** The text of a page without its tags. */
export const textOf = (body: string): string =>
  body
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/<(?:wbr|\/?bdi|\/?a\b[^>]*|\/?code)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/\s+/g, ' ');

/** The addresses in links of a page. */
export const linksOf = (body: string): string[] =>
  [...body.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, address = '']) => address.replaceAll('&amp;', '&'));
