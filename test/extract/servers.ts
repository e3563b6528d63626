/** Small real servers for the client to speak to; all are gone after each test. */
import * as http from 'node:http';
import * as net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { type Call, type Client, type ClientOptions, openClient } from '../../src/extract/client.ts';
import type { Outcome } from '../../src/extract/outcome.ts';

/** Long and odd enough that finding it anywhere means that it leaked. */
export const TOKEN = 'tok-5f3a91c2-never-shown';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(server: net.Server, sockets: Set<net.Socket>): Promise<string> {
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Host and port of a server that does this with each request, once its body is read. */
export async function serving(
  handle: (request: http.IncomingMessage & { readonly text: string }, response: http.ServerResponse) => void,
): Promise<string> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => handle(Object.assign(request, { text: Buffer.concat(chunks).toString() }), response));
  });
  return listen(server, new Set());
}

/** Host and port of a server that does this with each connection, and what was received on all of them. */
export async function connecting(
  handle: (socket: net.Socket, received: string) => void,
): Promise<{ readonly host: string; readonly received: () => string }> {
  let all = '';
  const server = net.createServer((socket) => {
    socket.on('data', (chunk) => {
      all += chunk.toString('latin1');
      handle(socket, chunk.toString('latin1'));
    });
  });
  return { host: await listen(server, new Set()), received: () => all };
}

/** Host and port of a server made elsewhere. */
export const started = (server: net.Server): Promise<string> => listen(server, new Set());

/** Host and port where nothing listens. */
export async function nobody(): Promise<string> {
  const server = net.createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return `127.0.0.1:${port}`;
}

/** A client that is closed after the test. */
export function clientFor(url: string, options: Partial<ClientOptions> = {}): Client {
  const client = openClient({ url, token: new Secret(TOKEN), connections: 4, now: () => new Date(), ...options });
  closing.push(client.close);
  return client;
}

export const CALL: Call = {
  method: 'POST',
  path: '/api/microblog/user',
  body: { user: 'ada' },
  xRequestId: '6f0f4a3e-8d0a-4b7e-9a57-0d3c1f6f9b11',
};

/** One call at this url, with more time than anything but a deadline can need. */
export const askOnce = (url: string, options: Partial<ClientOptions> = {}): Promise<Outcome> =>
  clientFor(url, { marginMs: 9900, ...options }).send({ ...CALL, timeoutSeconds: 0.1 });
