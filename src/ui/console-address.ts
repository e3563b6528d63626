/** The address of the console, which must be on this machine alone. */
import { isIPv4 } from 'node:net';
import { UsageError } from '../errors.ts';
import { type ListenAddress, parseAddress } from '../monitor/listen-address.ts';

/** The address without `--listen`; if it is taken, a free port replaces its port. */
export const DEFAULT_CONSOLE_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 8790 };

/** The address that a text names. Throws a UsageError for one that other machines could reach. */
export function consoleAddressOf(text: string): ListenAddress {
  const found = parseAddress(text);
  if (found && isLoopback(found.host)) return found;
  throw new UsageError(
    `--listen is ${JSON.stringify(text)}; allowed is an address that only this machine can reach: 127.0.0.1:PORT, [::1]:PORT or localhost:PORT`,
    {
      next: 'To open the console from another machine, use an SSH tunnel: ssh -L 8790:127.0.0.1:8790 HOST; port 0 uses a free port.',
    },
  );
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
