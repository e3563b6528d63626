/** The HTTP of health and metrics: three paths that are read, for probes and scrapers. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { UsageError } from '../errors.ts';
import { type ListenAddress, urlOf } from './listen-address.ts';
import type { Readiness } from './readiness.ts';

/** What is told at the paths. */
export interface MonitorProbes {
  readonly isReady: Readiness;
  readonly stuckBecause: () => string | undefined;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

export interface MonitorServer {
  readonly url: string;
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

/** Whoever asks sends a few lines; nobody may hold a connection for longer. */
const WHOLE_REQUEST_MS = 5_000;
const IDLE_MS = 5_000;
const HEADER_BYTES = 8_192;
const MOST_CONNECTIONS = 64;

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Begins to listen. Throws a UsageError, with the next step, when that can't be done at this address. */
export async function serve(address: ListenAddress, told: MonitorProbes): Promise<MonitorServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: WHOLE_REQUEST_MS,
      requestTimeout: WHOLE_REQUEST_MS,
      connectionsCheckingInterval: WHOLE_REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
    },
    (request, response) => {
      void answer(request, response, told);
    },
  );
  dropOldest(server);
  // A body is refused with the method that brings it, and nobody is told to go on sending one.
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
 * Ends the oldest connection that is not being answered where there are too many: connections that never send a request
 * must not keep a probe out.
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

async function answer(request: IncomingMessage, response: ServerResponse, told: MonitorProbes): Promise<void> {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const { status, type, body } = reads
    ? await replyTo(pathOf(request), told).catch(() => plain(500, 'the figures can’t be told'))
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

async function replyTo(path: string, told: MonitorProbes): Promise<Reply> {
  switch (path) {
    case '/healthz': {
      // That this is answered at all says that the loop turns.
      const because = told.stuckBecause();
      return because === undefined ? json(200, { alive: true }) : json(503, { alive: false, because: [because] });
    }
    case '/readyz': {
      const because = await told.isReady();
      return because.length === 0 ? json(200, { ready: true }) : json(503, { ready: false, because });
    }
    case '/metrics':
      return { status: 200, type: told.metrics.contentType, body: await told.metrics.text() };
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
  const { code = 'unknown trouble' } = cause as NodeJS.ErrnoException;
  const where = urlOf(address).replace('http://', '');
  const [because, next] =
    code === 'EADDRINUSE'
      ? ['another process listens there', 'Name a free one with --listen HOST:PORT, or --listen off.']
      : code === 'EACCES'
        ? ['this user may not listen there', 'Name a port from 1024 on with --listen HOST:PORT.']
        : [`it can’t be listened at (${code})`, 'Name an address of this machine with --listen HOST:PORT.'];
  return new UsageError(`Health and metrics can’t be told at ${where}: ${because}.`, { next, cause });
}
