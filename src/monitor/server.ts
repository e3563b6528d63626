/** The HTTP server of health and metrics: three paths for probes and scrapers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpServer, limitedServer, listenAt } from './http-server.ts';
import type { ListenAddress } from './listen-address.ts';
import type { Readiness } from './readiness.ts';

/** The sources of the responses. */
export interface MonitorProbes {
  readonly isReady: Readiness;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A server that listens at the address. Throws a UsageError with the next step if the address is not available. */
export function serve(address: ListenAddress, probes: MonitorProbes): Promise<HttpServer> {
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
