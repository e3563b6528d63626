/**
 * A Postgres that speaks TLS: takes TLS off before the run's own server, whose settings so stay as they are.
 * The certificate is for `localhost`, by the authority in `tls/authority.pem`; both are only for these tests.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

export interface TlsProxy {
  readonly port: number;
  close(): Promise<void>;
}

const file = (name: string): URL => new URL(`tls/${name}`, import.meta.url);

/** Path of the authority that signed the proxy's certificate. */
export const AUTHORITY = file('authority.pem').pathname;

/** The eight bytes with which a client asks for TLS, after which it awaits one letter. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');

/** Listens on a free port and passes what comes, by TLS, on to the server at the address. */
export async function startTlsProxy(server: string): Promise<TlsProxy> {
  const secureContext = createSecureContext({
    cert: await readFile(file('server.pem')),
    key: await readFile(file('server-key.pem')),
  });
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('data', (first: Buffer) => {
      if (!first.equals(SSL_REQUEST)) {
        client.end();
        return;
      }
      client.write('S');
      const secure = new TLSSocket(client, { isServer: true, secureContext });
      const upstream = connect(Number(port), hostname);
      sockets.add(upstream);
      secure.on('error', () => upstream.destroy());
      upstream.on('error', () => secure.destroy());
      secure.pipe(upstream).pipe(secure);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
