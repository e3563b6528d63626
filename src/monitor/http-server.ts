/** An HTTP server with limits of time, size and connections, for requests of a few lines. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { UsageError } from '../errors.ts';
import { type ListenAddress, urlOf } from './listen-address.ts';

export interface HttpServer {
  /** The base URL, without a path. */
  readonly url: string;
  /** Closes the server and every connection. */
  readonly close: () => Promise<void>;
}

/** The longest time for a client to send its request, which is a few lines. */
const REQUEST_MS = 5_000;
const IDLE_MS = 5_000;
const HEADER_BYTES = 8_192;
const MOST_CONNECTIONS = 64;

/** A server that does not listen yet. */
export function limitedServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
    },
    answer,
  );
  dropOldest(server);
  return server;
}

/** How errors name a server. */
export interface ServedSubject {
  /** Its name in the plural, at the start of a sentence. */
  readonly name: string;
  /** True if `--listen off` leaves it out. */
  readonly mayBeOff: boolean;
}

/** Listens at the address. Throws a UsageError with the next step if the address is not available. */
export async function listenAt(address: ListenAddress, server: Server, subject: ServedSubject): Promise<HttpServer> {
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw unusable(address, subject, cause);
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

function unusable(address: ListenAddress, { name, mayBeOff }: ServedSubject, cause: unknown): UsageError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  const where = urlOf(address).replace('http://', '');
  const [because, next] =
    code === 'EADDRINUSE'
      ? [
          'another process uses the address',
          `Set a free address with --listen HOST:PORT${mayBeOff ? ', or use --listen off' : ''}.`,
        ]
      : code === 'EACCES'
        ? ['this user may not use the port', 'Set a port of 1024 or above with --listen HOST:PORT.']
        : [`the address is not available (${code})`, 'Set an address of this machine with --listen HOST:PORT.'];
  return new UsageError(`${name} can’t be served at ${where}: ${because}.`, { next, cause });
}
