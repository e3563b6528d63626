/** A service that takes alerts, on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Hooks {
  /** Of the webhook; its path is a secret. */
  readonly url: string;
  readonly taken: {
    readonly method: string | undefined;
    readonly path: string | undefined;
    readonly headers: IncomingMessage['headers'];
    readonly body: unknown;
  }[];
  /** How the next posts are answered; 200 at first. */
  answer: (response: ServerResponse, url: string) => void;
  readonly close: () => Promise<void>;
}

export const CANARY = 'canary-hook-9f3';

export async function openHooks(): Promise<Hooks> {
  const taken: Hooks['taken'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      taken.push({ method: request.method, path: request.url, headers: request.headers, body: JSON.parse(body) });
      hooks.answer(response, hooks.url);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hooks: Hooks = {
    url: `http://127.0.0.1:${port}/services/${CANARY}?token=${CANARY}`,
    taken,
    answer: (response) => void response.end(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return hooks;
}
