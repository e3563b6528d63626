/** The address of /healthz, /readyz and /metrics. */
import { isIPv6 } from 'node:net';
import { UsageError } from '../errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Loopback, so only this machine has access by default. The port is the usual one of such exporters. */
export const DEFAULT_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 9464 };

const WRITTEN = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:\s[\]]+)):(?<port>\d{1,5})$/;

/** The address of a text such as `127.0.0.1:9464` or `[::1]:9464`; undefined if it is none. */
export function parseAddress(text: string): ListenAddress | undefined {
  const { v6, host, port } = WRITTEN.exec(text)?.groups ?? {};
  const found = { host: v6 ?? host ?? '', port: Number(port) };
  return found.host === '' || found.port > 65_535 || (v6 !== undefined && !isIPv6(v6)) ? undefined : found;
}

/** The address that a text names; undefined for `off`. Throws a UsageError if the text is not an address. */
export function listenAddressOf(text: string): ListenAddress | undefined {
  if (text === 'off') return undefined;
  const found = parseAddress(text);
  if (found) return found;
  throw new UsageError(`--listen is ${JSON.stringify(text)}; allowed is HOST:PORT, [IPV6]:PORT or off`, {
    next: 'Write 127.0.0.1:9464, or 0.0.0.0:9464 to let other machines connect; port 0 uses a free port.',
  });
}

/** The address as a URL writes it. */
export const urlOf = ({ host, port }: ListenAddress): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
