/** The sandbox: a local service that speaks the contract over a real socket. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { accountOf } from './account.ts';
import type { Arrival, LoggedRequest } from './arrival.ts';
import { exchange, type Exchanged, type Service } from './exchange.ts';
import type { Fault } from './fault.ts';
import { faultPlan } from './fault-plan.ts';
import { type SandboxOptions, settingsOf } from './options.ts';
import { refused } from './outcome.ts';
import { receive } from './receive.ts';
import { broken, notFound, type Refusal, tooLarge, wrongMethod } from './refusal.ts';
import { requestLog } from './request-log.ts';
import { send } from './send.ts';
import { validateBody, validateQuery } from './validate.ts';
import { type World, worldOf } from './world/world.ts';

export interface Sandbox {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly world: World;
  /** Ends every connection and whatever is under way. */
  close(): Promise<void>;
  /** Every request for an endpoint's path or an unknown one, in the order of arrival. */
  requests(): readonly LoggedRequest[];
  /** Points left. */
  points(): number;
  /** Replaces the script of faults; counting begins anew. */
  setFaults(faults: readonly Fault[]): void;
  setPoints(points: number): void;
  /** Refuses the token from now on. */
  revoke(): void;
}

/**
 * Starts a sandbox and resolves when it listens. The caller closes it.
 * Rejects with a UsageError when the size is none, and as `listen` does when the port is taken.
 */
export async function serveSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(options);
  const closing = new AbortController();
  let plan = faultPlan(settings.faults, settings.seed);
  const service: Service = {
    settings,
    world: worldOf(settings.seed, settings.size, settings.now),
    account: accountOf(settings.token, settings.points),
    log: requestLog(tokenIdOf(settings.token), settings.logOrder, settings.logCursor),
    plan: () => plan,
    sleep: (waitMs) => wait(waitMs, undefined, { signal: closing.signal }),
  };
  const arrivals: Arrival[] = [];
  const underWay = new Set<Promise<void>>();

  const server = createServer((request, response) => {
    const handled = handle(service, arrivals, underWay.size + 1, request, response)
      .catch(() => response.destroy())
      .then(() => undefined)
      .finally(() => underWay.delete(handled));
    underWay.add(handled);
  });
  // Longer than clients keep idle connections, so that none is closed under a request that is just being sent.
  server.keepAliveTimeout = 120_000;
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`,
    port,
    world: service.world,
    requests: () => arrivals,
    points: () => service.account.left(),
    setFaults: (faults) => {
      plan = faultPlan(faults, settings.seed);
    },
    setPoints: (points) => service.account.setPoints(points),
    revoke: () => service.account.revoke(),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      closing.abort();
      server.closeAllConnections();
      await closed;
      await Promise.allSettled(underWay);
    },
  };
}

async function handle(
  service: Service,
  arrivals: Arrival[],
  inFlight: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = addressOf(request);
  if (request.method === 'GET' && pathname.startsWith(PAGES)) return sendPage(service.world, pathname, response);

  const endpoint = catalog.find(({ path }) => path === pathname);
  const arrival: Arrival = {
    number: arrivals.length + 1,
    arrivedAt: service.settings.now(),
    method: request.method ?? '',
    path: pathname,
    ...(endpoint && { endpoint: endpoint.name }),
    body: undefined,
    requestId: headerOf(request, 'x-request-id') ?? service.settings.newId(),
    inFlight,
    status: null,
    cost: 0,
    count: null,
    sha256: null,
    bytes: 0,
    endedAt: null,
  };
  arrivals.push(arrival);
  const { reply, trouble, ended } = await answer(service, arrival, endpoint, request, searchParams);
  arrival.bytes = reply.body.length;
  arrival.sha256 = createHash('sha256').update(reply.body).digest('hex');
  if (trouble?.kind !== 'reset' || trouble.stage === 'body') arrival.status = reply.status;
  await send(response, reply, trouble);
  arrival.endedAt = service.settings.now();
  ended();
}

async function answer(
  service: Service,
  arrival: Arrival,
  endpoint: Endpoint | undefined,
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<Exchanged> {
  const text = await receive(request);
  if (text === undefined) return refusing(arrival, { ...tooLarge, headers: { connection: 'close' } });
  if (endpoint === undefined) return refusing(arrival, notFound(arrival.path));
  if (request.method !== endpoint.method) return refusing(arrival, wrongMethod(endpoint.method));
  arrival.body = endpoint.method === 'GET' ? Object.fromEntries(query) : parsedOr(text);
  const validated = endpoint.method === 'GET' ? validateQuery(endpoint, query) : validateBody(endpoint, text);
  const call = { arrival, endpoint, token: headerOf(request, 'access-token'), validated };
  return exchange(service, call).catch((error: unknown) => {
    if (request.destroyed) throw error;
    return refusing(arrival, broken);
  });
}

/** A refusal before there is an endpoint to ask: nothing is charged or logged. */
function refusing(arrival: Arrival, refusal: Refusal): Exchanged {
  const { status, headers, body } = refused(refusal);
  return {
    reply: {
      status,
      body,
      headers: { 'content-type': 'application/json', 'x-request-id': arrival.requestId, ...headers },
    },
    trouble: undefined,
    ended: () => undefined,
  };
}

const PAGES = '/pages/';

/** The sandbox's pages, for people with a browser. */
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

/** A UUID that stands for the token in the log and tells nothing of it. */
function tokenIdOf(token: string): string {
  const hex = createHash('sha256').update(`sandbox token ${token}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
