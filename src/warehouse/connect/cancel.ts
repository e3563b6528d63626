/**
 * Cancels a statement with the protocol's cancel request, on a separate connection. This works through a pooler too,
 * because the pooler maps the process number of its client to that of the server.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type ClientConfig, type PoolClient } from 'pg';

/** Internals of the driver that its types omit. */
interface Wired {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: EventEmitter & {
    readonly stream: Socket;
    readonly ssl: unknown;
    readonly sslNegotiation: string;
    readonly requestSsl: () => void;
    readonly connect: (port: number | string, host?: string) => void;
    readonly cancel: (processID: number, secretKey: number) => void;
  };
}

/** Limit for the request. A server does not answer it and may never close the connection. */
const WITHIN_MS = 10_000;

/** Requests cancellation of the client's statement. The end of the statement shows whether that worked. */
export function cancelStatement(client: PoolClient, settings: ClientConfig): void {
  const { processID, secretKey } = client as unknown as Wired;
  const { connection, host, port } = new Client(settings) as unknown as Wired;
  const close = (): void => void connection.stream.destroy();
  connection.on('error', close);
  connection.once('end', close);
  const isSecure = Boolean(connection.ssl);
  if (isSecure && connection.sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
  connection.once(isSecure ? 'sslconnect' : 'connect', () => {
    connection.cancel(processID, secretKey);
    connection.stream.setTimeout(WITHIN_MS, close);
  });
  connection.stream.setTimeout(WITHIN_MS, close);
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
