/** The HTTP server of health and metrics: three paths for probes and scrapers. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { UsageError } from '../errors.ts';
import { type ListenAddress, urlOf } from './listen-address.ts';
import type { Readiness } from './readiness.ts';

/** The sources of the responses. */
export interface MonitorProbes {
  readonly isReady: Readiness;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

export interface MonitorServer {
  readonly url: string;
  /** Closes the server and every connection. */
  readonly close: () => Promise<void>;
}

/** The longest time for a client to send its request, which is a few lines. */
const REQUEST_MS = 5_000;
const IDLE_MS = 5_000;
const HEADER_BYTES = 8_192;
const MOST_CONNECTIONS = 64;

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A server that listens at the address. Throws a UsageError with the next step if the address is not available. */
export async function serve(address: ListenAddress, probes: MonitorProbes): Promise<MonitorServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
    },
    (request, response) => {
      void answer(request, response, probes);
    },
  );
  dropOldest(server);
  // A request with a body is refused before the client sends the body.
  server.on('checkContinue', (_request, response: ServerResponse) => response.writeHead(405, NO_MORE).end());
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw unusable(address, cause);
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: urlOf({ ...address, port }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Closes the oldest idle connection if there are too many. Connections that never send a request must not keep a probe
 * out.
 */
function dropOldest(server: Server): void {
  const waiting = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    socket.on('close', () => waiting.delete(socket));
    const [oldest] = waiting.size > MOST_CONNECTIONS ? waiting : [];
    oldest?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    waiting.delete(socket);
    response.on('close', () => {
      if (!socket.destroyed) waiting.add(socket);
    });
  });
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

function unusable(address: ListenAddress, cause: unknown): UsageError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  const where = urlOf(address).replace('http://', '');
  const [because, next] =
    code === 'EADDRINUSE'
      ? ['another process uses the address', 'Set a free address with --listen HOST:PORT, or use --listen off.']
      : code === 'EACCES'
        ? ['this user may not use the port', 'Set a port of 1024 or above with --listen HOST:PORT.']
        : [`the address is not available (${code})`, 'Set an address of this machine with --listen HOST:PORT.'];
  return new UsageError(`Health and metrics can’t be served at ${where}: ${because}.`, { next, cause });
}
