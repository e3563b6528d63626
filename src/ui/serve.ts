/**
 * The local web console: pages about the warehouse, rendered on the server. It listens on loopback alone, changes nothing
 * and sends nothing to the service.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit, { type LimitFunction } from 'p-limit';
import { EXIT } from '../errors.ts';
import { type HttpServer, limitedServer, listenAt } from '../monitor/http-server.ts';
import type { ListenAddress } from '../monitor/listen-address.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { DEFAULT_CONSOLE_ADDRESS } from './console-address.ts';
import { framed, SAFE_HEADERS } from './frame.ts';
import { readForm, type RequestRefusal, refusalOf } from './guard.ts';
import { runStatement, runToCsv, sqlPage } from './pages/sql.ts';
import { problem } from './parts.ts';
import { readPage, routeOf } from './routes.ts';
import type { Page, ConsoleView } from './view.ts';

/** An error as a page shows it. */
export interface ConsoleFailure {
  readonly exitCode: number;
  readonly message: string;
  readonly next: string;
}

/** What the console shows, and where it reads it. */
export interface ConsoleSource extends Pick<ConsoleView, 'syncs' | 'plan' | 'redact'> {
  /** Opens the warehouse for the work, and closes it afterwards. */
  readonly read: <T>(work: (warehouse: Warehouse) => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Requests that may read at the same time. */
  readonly readers: number;
  /** The error without secrets. */
  readonly failureOf: (error: unknown) => ConsoleFailure;
  /** Called with each error that is not one of the user's. */
  readonly onFailure: (failure: ConsoleFailure) => void;
  readonly now: () => Date;
  /** The longest time for a client to take a part of a response (default: 30 seconds). */
  readonly mostTakeMs?: number;
}

interface ConsoleContext extends ConsoleSource {
  /** A form must contain it, so that no other website can send one. */
  readonly token: string;
  readonly limit: LimitFunction;
}

interface Reply {
  readonly status: number;
  readonly page: Page;
}

const MOST_TAKE_MS = 30_000;

/**
 * Serves the console, at the default address or a free port without an address. Throws a UsageError with the next step if
 * the address is not available.
 */
export async function serveConsole(address: ListenAddress | undefined, source: ConsoleSource): Promise<HttpServer> {
  const context = { ...source, token: randomBytes(32).toString('base64url'), limit: pLimit(source.readers) };
  const answers = new Set<Promise<void>>();
  const server = limitedServer((request, response) => {
    const answer = answerRequest(request, response, context).finally(() => answers.delete(answer));
    answers.add(answer);
  });
  const listen = (at: ListenAddress): Promise<HttpServer> =>
    listenAt(at, server, { name: 'The console', mayBeOff: false });
  const served = await (address ? listen(address) : listen(DEFAULT_CONSOLE_ADDRESS).catch(() => listen(FREE)));
  return {
    url: served.url,
    close: async () => {
      await served.close();
      await Promise.all(answers);
    },
  };
}

const FREE: ListenAddress = { ...DEFAULT_CONSOLE_ADDRESS, port: 0 };

/** Answers one request. Never rejects: an error becomes a page, or ends the connection of a response that has begun. */
async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: ConsoleContext,
): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  const url = URL.parse(request.url ?? '', 'http://localhost');
  const path = url?.pathname ?? '/';
  try {
    const reply = await replyTo({ request, response, url, path, signal: left.signal }, context);
    if (reply) send(request, response, { ...reply, path }, context);
  } catch (error) {
    if (response.headersSent || left.signal.aborted) response.destroy();
    else send(request, response, { ...failed(error, context), path }, context);
  }
}

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL | null;
  readonly path: string;
  /** Aborted when the client disconnected. */
  readonly signal: AbortSignal;
}

/** The reply to a request; undefined if the response was sent already. */
async function replyTo(received: Received, context: ConsoleContext): Promise<Reply | undefined> {
  const { request, url, path, signal } = received;
  const refusal = refusalOf(request);
  if (refusal) return refused(refusal);
  if (request.method === 'POST') return path === '/sql' ? replyToForm(received, context) : refused(NO_FORM);
  const parameters = url?.searchParams ?? new URLSearchParams();
  if (path === '/sql') return { status: 200, page: sqlPage(parameters.get('statement') ?? '', context.token) };
  const route = routeOf(path);
  const page =
    route && (await read((warehouse) => readPage(warehouse, route, { ...context, parameters }), received, context));
  signal.throwIfAborted();
  return page ? { status: 200, page } : refused(NOT_FOUND);
}

const read = <T>(
  work: (warehouse: Warehouse) => Promise<T>,
  { signal }: Received,
  { limit, read: open }: ConsoleContext,
): Promise<T> =>
  limit(async () => {
    signal.throwIfAborted();
    return open(work, signal);
  });

const NO_FORM: RequestRefusal = { status: 405, message: 'This page has no form.', next: 'Open it with a link.' };
const NOT_FOUND: RequestRefusal = {
  status: 404,
  message: 'There is no such page.',
  next: 'Choose a page above; what was pruned or never recorded has no page.',
};

function refused({ status, message, next }: RequestRefusal): Reply {
  return { status, page: { title: status === 404 ? 'Not found' : 'Refused', body: problem(message, next) } };
}

/** The status of a failed page by the exit code of its error. All others have 503, such as a database that is away. */
const STATUS: Readonly<Record<number, number>> = { [EXIT.usage]: 400, [EXIT.bug]: 500 };

function failed(error: unknown, { failureOf, onFailure }: ConsoleContext): Reply {
  const failure = failureOf(error);
  if (failure.exitCode !== EXIT.usage) onFailure(failure);
  return {
    status: STATUS[failure.exitCode] ?? 503,
    page: { title: 'Error', body: problem(failure.message, failure.next) },
  };
}

/** Runs the statement of a form: as a page, or as CSV, which is sent while it is read. */
async function replyToForm(received: Received, context: ConsoleContext): Promise<Reply | undefined> {
  const { request, response, signal } = received;
  const form = await readForm(request, context.token);
  if (!(form instanceof URLSearchParams)) return refused(form);
  const statement = (form.get('statement') ?? '').replaceAll('\r\n', '\n');
  const shown = (result: Page['body']): Page => sqlPage(statement, context.token, result);
  try {
    if (form.get('as') !== 'csv') {
      const options = { signal, redact: context.redact };
      const result = await read((warehouse) => runStatement(warehouse, statement, options), received, context);
      return { status: 200, page: shown(result) };
    }
    const write = (text: string): Promise<void> => writeCsv(response, text, signal, context);
    await read((warehouse) => runToCsv(warehouse, statement, signal, write), received, context);
    response.end();
    return undefined;
  } catch (error) {
    if (response.headersSent || signal.aborted) throw error;
    const { status, page } = failed(error, context);
    return { status, page: shown(page.body) };
  }
}

async function writeCsv(
  response: ServerResponse,
  text: string,
  signal: AbortSignal,
  { mostTakeMs = MOST_TAKE_MS }: ConsoleContext,
): Promise<void> {
  if (!response.headersSent)
    response.writeHead(200, {
      ...SAFE_HEADERS,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="query.csv"',
    });
  signal.throwIfAborted();
  if (!response.write(text))
    await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(mostTakeMs)]) });
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, page, path }: Reply & { readonly path: string },
  { now, mostTakeMs = MOST_TAKE_MS }: ConsoleContext,
): void {
  const body = framed(page, path, now());
  response.writeHead(status, {
    ...SAFE_HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    // The rest of a refused request is not read.
    ...(status === 200 ? {} : { connection: 'close' }),
  });
  // A client that does not take the response loses its connection.
  request.socket.setTimeout(mostTakeMs);
  response.end(request.method === 'HEAD' ? undefined : body);
}
