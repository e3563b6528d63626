/** Serves the health and metrics of a long-running process over HTTP: `/healthz`, `/readyz` and `/metrics`. */
import type { MonitoredProcess } from './monitored-process.ts';
import { openExposition } from './exposition.ts';
import { listenAddressOf, DEFAULT_ADDRESS, type ListenAddress } from './listen-address.ts';
import { type HttpServer, limitedServer, listenAt } from './http-server.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { migrationStatus } from '../warehouse/migrate/migrate.ts';
import { withTimeout } from '../async/with-timeout.ts';

/**
 * The running monitor at the address `listen`; undefined for `off`. Throws a UsageError if the address is invalid or not
 * available. Without `listen` it uses the default address; if that is in use, for example by another worker on the
 * machine, it calls `onTaken` with the reason and returns undefined.
 */
export async function startMonitor(
  listen: string | undefined,
  watched: MonitoredProcess,
  onTaken: (message: string) => void,
): Promise<HttpServer | undefined> {
  const address = listen === undefined ? DEFAULT_ADDRESS : listenAddressOf(listen);
  if (!address) return undefined;
  const exposition = openExposition(watched);
  let server: HttpServer;
  try {
    server = await serve(address, { isReady: openReadiness(watched), metrics: exposition });
  } catch (error) {
    exposition.close();
    if (listen !== undefined) throw error;
    onTaken(`${(error as Error).message} Health and metrics are disabled; set another address with --listen.`);
    return undefined;
  }
  return {
    url: server.url,
    close: async () => {
      await server.close();
      exposition.close();
    },
  };
}

/** The sources of the responses. */
interface MonitorProbes {
  readonly isReady: Readiness;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A server that listens at the address. Throws a UsageError with the next step if the address is not available. */
function serve(address: ListenAddress, probes: MonitorProbes): Promise<HttpServer> {
  const server = limitedServer((request, response) => {
    void answer(request, response, probes);
  });
  // A request with a body is refused before the client sends the body.
  server.on('checkContinue', (_request, response: ServerResponse) => response.writeHead(405, NO_MORE).end());
  return listenAt(address, server, { name: 'Health and metrics', mayBeOff: true });
}

const NO_MORE = { connection: 'close' };

async function answer(request: IncomingMessage, response: ServerResponse, probes: MonitorProbes): Promise<void> {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const { status, type, body } = reads
    ? await replyTo(pathOf(request), probes).catch(() => plain(500, 'the response could not be made'))
    : plain(405, 'only GET and HEAD are answered');
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(!reads && { allow: 'GET, HEAD', ...NO_MORE }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.replace(/[?#].*$/s, '');

async function replyTo(path: string, probes: MonitorProbes): Promise<Reply> {
  switch (path) {
    case '/healthz':
      // A response shows that the event loop runs. It does not depend on the database: a restart of every process would
      // not bring the database back.
      return json(200, { alive: true });
    case '/readyz': {
      const because = await probes.isReady();
      return because.length === 0 ? json(200, { ready: true }) : json(503, { ready: false, because });
    }
    case '/metrics':
      return { status: 200, type: probes.metrics.contentType, body: await probes.metrics.text() };
    default:
      return plain(404, 'there are /healthz, /readyz and /metrics');
  }
}

const plain = (status: number, text: string): Reply => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});
const json = (status: number, value: unknown): Reply => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(value)}\n`,
});

/** The reasons why a process is not ready; none if it is. They do not quote the database: its errors may contain names and addresses. */
type Readiness = () => Promise<readonly string[]>;

/** Probes within this time get the same result. */
const KEPT_MS = 1_000;
const PATIENCE_MS = 3_000;

/** A check that queries the database at most once a second, however many probes come. */
function openReadiness(monitored: MonitoredProcess): Readiness {
  let looked: Promise<readonly string[]> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (monitored.isDraining()) return ['the process is ending'];
    const now = monitored.now().getTime();
    if (!looked || now - lookedAt >= KEPT_MS) {
      lookedAt = now;
      looked = look(monitored);
    }
    return looked;
  };
}

async function look({ warehouse, sleep }: MonitoredProcess): Promise<readonly string[]> {
  const state = async (): Promise<string | undefined> => {
    await sql`select 1`.execute(warehouse.db);
    const status = await migrationStatus(warehouse);
    return status.state;
  };
  const found = await withTimeout(state(), PATIENCE_MS, sleep).catch(() => 'gone');
  if (found === undefined) return ['the warehouse does not answer in time'];
  if (found === 'gone') return ['the warehouse does not answer'];
  return found === 'current' ? [] : [`the warehouse’s schema is ${found}`];
}
