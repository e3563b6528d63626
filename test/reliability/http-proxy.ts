/** An HTTP proxy that disturbs single exchanges: it knows where a request ends and an answer begins. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export type ExchangeTrouble =
  /** The right answer, this much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The connection is reset, and the service never gets the request. */
  | { readonly kind: 'refuse' }
  /** The service handles the request; its answer is dropped, and the connection is reset. */
  | { readonly kind: 'swallow' }
  /** The service handles the request; the connection is closed, or reset, after this many bytes of the body. */
  | { readonly kind: 'cut' | 'reset'; readonly bytes: number }
  /** The service handles the request; nothing arrives for this long, then the connection is reset. */
  | { readonly kind: 'silence'; readonly ms: number }
  /** Half of the body is delivered, `onHalf` is called, and nothing more arrives. */
  | { readonly kind: 'half'; readonly onHalf: () => void };

/** The fault of the nth exchange, from 1; undefined for none. */
export type ExchangeScript = (exchange: number) => ExchangeTrouble | undefined;

export interface HttpProxy {
  /** Without a trailing slash. */
  readonly url: string;
  readonly setScript: (script: ExchangeScript) => void;
  /** How often each kind of fault occurred. */
  readonly befell: () => Readonly<Record<string, number>>;
  readonly close: () => Promise<void>;
}

/** Time for written bytes to reach the client before anything else happens. */
const READ_MS = 25;

/** Listens on a free loopback port and passes exchanges on to the service at the URL. */
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
  const requestBody = await buffer(request);
  const reset = (): void => void response.socket?.resetAndDestroy();
  if (trouble?.kind === 'refuse') return reset();
  if (trouble?.kind === 'latency') await wait(trouble.ms);
  const { status, headers, body } = await answered(service, agent, request, requestBody);
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

/** Sends headers and a part of the body, and gives the client time to read them. */
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
