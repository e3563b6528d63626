/** Handles one HTTP request: finds its endpoint, gets the answer, records the request and sends the reply. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import type { Arrival } from './arrival.ts';
import { exchange, type SandboxExchange, type Service } from './exchange.ts';
import { refused } from './outcome.ts';
import { notFound, type SandboxRefusal, tooLarge, wrongMethod } from './refusal.ts';
import { send } from './send.ts';
import { validateBody, validateQuery } from './validate.ts';
import type { World } from './world/world.ts';

/** All received requests, and the number of requests without an answer. */
export interface Memory {
  readonly arrivals: Arrival[];
  busy: number;
}

/**
 * Resolves when the answer has ended, complete or not. Rejects if the client disconnects before its request is
 * complete.
 */
export async function handle(
  service: Service,
  memory: Memory,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = addressOf(request);
  if (request.method === 'GET' && pathname.startsWith(PAGES)) return sendPage(service.world, pathname, response);

  const endpoint = catalog.find(({ path }) => path === pathname);
  const arrival: Arrival = {
    number: memory.arrivals.length + 1,
    arrivedAt: service.settings.now(),
    method: request.method ?? '',
    path: pathname,
    ...(endpoint && { endpoint: endpoint.name }),
    body: undefined,
    xRequestId: headerOf(request, 'x-request-id') ?? service.settings.newId(),
    inFlight: ++memory.busy,
    status: null,
    cost: 0,
    count: null,
    sha256: null,
    bytes: 0,
    endedAt: null,
  };
  memory.arrivals.push(arrival);
  const { reply, effect } = await answer(service, arrival, endpoint, request, searchParams).finally(() => {
    memory.busy--;
  });
  arrival.bytes = reply.body.length;
  if (reply.body.length > 0) arrival.sha256 = createHash('sha256').update(reply.body).digest('hex');
  if (effect?.kind !== 'reset' || effect.stage === 'body') arrival.status = reply.status;
  await send(response, reply, effect);
  arrival.endedAt = service.settings.now();
}

async function answer(
  service: Service,
  arrival: Arrival,
  endpoint: Endpoint | undefined,
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<SandboxExchange> {
  const text = await receive(request);
  if (text === undefined) return refusing(arrival, { ...tooLarge, headers: { connection: 'close' } });
  if (endpoint === undefined) return refusing(arrival, notFound(arrival.path));
  if (request.method !== endpoint.method) return refusing(arrival, wrongMethod(endpoint.method));
  arrival.body = endpoint.method === 'GET' ? Object.fromEntries(query) : parsedOr(text);
  const validated = endpoint.method === 'GET' ? validateQuery(endpoint, query) : validateBody(endpoint, text);
  const call = { arrival, endpoint, token: headerOf(request, 'access-token'), validated };
  return exchange(service, call);
}

/** A refusal without an endpoint: nothing is charged or logged. */
function refusing(arrival: Arrival, refusal: SandboxRefusal): SandboxExchange {
  const { status, headers, body } = refused(refusal);
  return {
    reply: {
      status,
      body,
      headers: { 'content-type': 'application/json', 'x-request-id': arrival.xRequestId, ...headers },
    },
    effect: undefined,
  };
}

const PAGES = '/pages/';

/** Sends one of the sandbox's pages, for browsers. */
async function sendPage(world: World, pathname: string, response: ServerResponse): Promise<void> {
  const fetched = world.pages.fetch(`https://${pathname.slice(PAGES.length)}`);
  const found = fetched.kind === 'page';
  const body = Buffer.from(found ? fetched.html : 'There is no such page.\n');
  const type = found ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
  await send(response, { status: found ? 200 : 404, headers: { 'content-type': type }, body }, undefined);
}

function addressOf(request: IncomingMessage): URL {
  const path = request.url ?? '/';
  return URL.canParse(path, BASE) ? new URL(path, BASE) : new URL(BASE);
}
const BASE = 'http://sandbox.invalid/';

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const MOST_BYTES = 1_000_000;

/** The body as text; undefined if it is too large. Rejects if the client disconnects. */
async function receive(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
