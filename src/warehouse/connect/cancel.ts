/**
 * Cancels a server's statement by the protocol's own request, on a connection of its own. A pooler knows it: the process
 * number that it told its client is one that only it can turn into the server's.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type ClientConfig, type PoolClient } from 'pg';

/** The driver's own ends, which its types leave out. */
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

/** A server answers nothing to such a request, and may never close the connection. */
const WITHIN_MS = 10_000;

/** Asks that what the client runs be stopped, as the settings connect; whether it was is told by the statement's own end. */
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
