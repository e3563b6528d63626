/** An HTTP proxy that spoils single exchanges on purpose: it sees where a request ends and an answer begins. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export type ExchangeTrouble =
  /** The right answer, this much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The connection is reset and the service never sees the request. */
  | { readonly kind: 'refuse' }
  /** The service does the work; its answer is dropped and the connection reset. */
  | { readonly kind: 'swallow' }
  /** The service does the work; the connection ends in order, or is reset, after this many bytes of the body. */
  | { readonly kind: 'cut' | 'reset'; readonly bytes: number }
  /** The service does the work; nothing comes for so long, then the connection is reset. */
  | { readonly kind: 'silence'; readonly ms: number }
  /** Half the body is delivered; then the teller is told and nothing more comes. */
  | { readonly kind: 'half'; readonly onHalf: () => void };

/** The trouble of the nth exchange, from 1; undefined leaves it alone. */
export type ExchangeScript = (exchange: number) => ExchangeTrouble | undefined;

export interface HttpProxy {
  /** Without a trailing slash. */
  readonly url: string;
  readonly setScript: (script: ExchangeScript) => void;
  /** How often each kind of trouble came about. */
  readonly befell: () => Readonly<Record<string, number>>;
  readonly close: () => Promise<void>;
}

/** What was written is on its way to the client before anything else happens. */
const READ_MS = 25;

/** Listens on a free port of the loopback and passes exchanges on to the service at the url. */
export async function startHttpProxy(service: string, first: ExchangeScript = () => undefined): Promise<HttpProxy> {
  const agent = new Agent({ keepAlive: true });
  const befell = new Map<string, number>();
  let script = first;
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    const trouble = script(count);
    if (trouble) befell.set(trouble.kind, (befell.get(trouble.kind) ?? 0) + 1);
    exchange(service, agent, request, response, trouble).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setScript: (other) => {
      script = other;
    },
    befell: () => Object.fromEntries(befell),
    close: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

async function exchange(
  service: string,
  agent: Agent,
  request: IncomingMessage,
  response: ServerResponse,
  trouble: ExchangeTrouble | undefined,
): Promise<void> {
  const asked = await buffer(request);
  const reset = (): void => void response.socket?.resetAndDestroy();
  if (trouble?.kind === 'refuse') return reset();
  if (trouble?.kind === 'latency') await wait(trouble.ms);
  const { status, headers, body } = await answered(service, agent, request, asked);
  if (trouble?.kind === 'swallow') return reset();
  if (trouble?.kind === 'silence') {
    await wait(trouble.ms);
    return reset();
  }
  response.writeHead(status, { ...headers, 'content-length': String(body.length) });
  switch (trouble?.kind) {
    case undefined:
    case 'latency':
      response.end(body);
      return;
    case 'cut':
    case 'reset': {
      await begin(response, body.subarray(0, Math.min(trouble.bytes, body.length - 1)));
      if (trouble.kind === 'reset') reset();
      else response.socket?.destroySoon();
      return;
    }
    case 'half':
      await begin(response, body.subarray(0, body.length / 2));
      trouble.onHalf();
  }
}

/** Sends headers and a part of the body, and gives the client time to read it. */
async function begin(response: ServerResponse, part: Buffer): Promise<void> {
  response.flushHeaders();
  if (part.length > 0) response.write(part);
  await wait(READ_MS);
}

async function answered(service: string, agent: Agent, { method, url, headers }: IncomingMessage, body: Buffer) {
  const { host: _, connection: __, ...passed } = headers;
  const asking = send(`${service}${url ?? '/'}`, { agent, method: method ?? 'GET', headers: passed });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  const { 'transfer-encoding': ___, connection: ____, ...kept } = answer.headers;
  return { status: answer.statusCode ?? 502, headers: kept, body: await buffer(answer) };
}
