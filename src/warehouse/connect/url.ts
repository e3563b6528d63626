/**
 * Parses postgres:// addresses, with libpq's rules for sslmode.
 * Without sslmode, the certificate of a remote server must match its name, and a local server is used without TLS.
 * `pg-connection-string` does not fit: it accepts a `%` that encodes nothing and unknown parameters, ignores `dbname`,
 * reads certificate files by itself, and prints a warning for some values of sslmode.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { UsageError } from '../../errors.ts';
import { withHost } from '../../text/database-address.ts';

export const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** How to reach a server. `tls` lists the security settings to try in order. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tlsMode: TlsMode;
  /** `false` means no TLS. */
  readonly tls: readonly (false | ConnectionOptions)[];
  readonly directTls: boolean;
  readonly channelBinding: boolean;
  readonly applicationName: string;
  readonly startupOptions: string | undefined;
  readonly connectWithinMs: number;
}

const DEFAULT_PORT = 5432;
const CONNECT_WITHIN_S = 10;

/** The expected form, for messages about a refused address. */
const SHAPE = 'postgres://USER:PASSWORD@HOST:5432/DATABASE, with ?sslmode=… if the default for TLS does not fit';

const ENCODE = 'encode characters such as @ / ? # in the password as %40 %2F %3F %23';

const SUPPORTED = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'application_name',
  'channel_binding',
  'connect_timeout',
  'options',
];
/** Parameters of libpq without an effect here: keep-alive is always on. */
const IGNORED = [
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'target_session_attrs',
  'gssencmode',
  'fallback_application_name',
];
/** Values of `target_session_attrs` that a server which accepts writes satisfies. */
const WRITABLE = ['any', 'read-write', 'primary'];
const WITH_TLS: readonly TlsMode[] = ['require', 'verify-ca', 'verify-full'];

const refuse = (found: string, next: string): never => {
  throw new UsageError(`warehouse.url: ${found}`, { next });
};

/** The parts of a postgres:// address. Throws a UsageError that does not contain the address if it is not valid. */
export function parseAddress(url: string): Address {
  const parsed = parseUrl(url);
  const parameter = (name: string): string | undefined => present(parsed.searchParams.get(name));
  refuseUnsupported(parsed.searchParams);
  const host = parameter('host') ?? present(decoded(parsed.hostname.replace(/^\[(.*)\]$/, '$1'))) ?? 'localhost';
  if (host.includes(','))
    refuse('several hosts', 'Name one host; use a pooler or a virtual address for several servers.');
  const tlsMode = modeOf(parameter('sslmode'), host);
  const directTls = parameter('sslnegotiation') === 'direct';
  const channelBinding = parameter('channel_binding');
  if (directTls) needTls('sslnegotiation=direct', host, tlsMode);
  if (channelBinding === 'require') needTls('channel_binding=require', host, tlsMode);
  return {
    host,
    port: numberOf('port', parameter('port') ?? parsed.port, DEFAULT_PORT),
    database: parameter('dbname') ?? present(decoded(parsed.pathname.replace(/^\//, ''))),
    user: parameter('user') ?? present(decoded(parsed.username)),
    password: parameter('password') ?? present(decoded(parsed.password)),
    tlsMode,
    tls: tlsOf(tlsMode, host, { root: parameter('sslrootcert'), cert: parameter('sslcert'), key: parameter('sslkey') }),
    directTls,
    channelBinding: ['prefer', 'require'].includes(channelBinding ?? ''),
    applicationName: parameter('application_name') ?? 'sluice',
    startupOptions: parameter('options'),
    connectWithinMs: numberOf('connect_timeout', parameter('connect_timeout'), CONNECT_WITHIN_S) * 1000,
  };
}

function refuseUnsupported(parameters: URLSearchParams): void {
  let mayBePassword = false;
  for (const name of parameters.keys()) {
    if (!SUPPORTED.includes(name) && !IGNORED.includes(name))
      // A name of other characters, or after the password, may be a part of it.
      refuse(
        /^[a-z_]+$/.test(name) && !mayBePassword ? `unknown parameter ${name}` : 'an unknown parameter',
        `Remove it; allowed are ${SUPPORTED.join(', ')}. Write & in a password as %26.`,
      );
    mayBePassword ||= name === 'password';
  }
  const attributes = present(parameters.get('target_session_attrs')) ?? 'any';
  if (!WRITABLE.includes(attributes)) refuse(`target_session_attrs=${attributes}`, `Use ${WRITABLE.join(', ')}.`);
}

/** Refuses a setting that needs TLS with an address that may do without it. */
function needTls(setting: string, host: string, mode: TlsMode): void {
  if (isSocket(host)) refuse(`${setting} with a Unix socket`, 'Remove it: a socket has no TLS.');
  if (!WITH_TLS.includes(mode))
    refuse(`${setting} with sslmode=${mode}`, `Use it with sslmode=${WITH_TLS.join(', ')}.`);
}

/** The text, or undefined if it is empty: an empty parameter counts as absent. */
const present = (text: string | null): string | undefined => (text === null || text === '' ? undefined : text);

function parseUrl(url: string): URL {
  const complete = withHost(url);
  if (!URL.canParse(complete)) return refuse('not an address', `Write ${SHAPE}; ${ENCODE}.`);
  const parsed = new URL(complete);
  // Otherwise the end of the password would be looked up as a host, or shown as the name of a database.
  if (/:\/\/[^/?#]*[/?#].*@/s.test(complete)) refuse('an @ after the host', `Write ${SHAPE}; ${ENCODE}.`);
  if (complete.includes('#')) refuse('a # in the address', `Write ${SHAPE}; ${ENCODE}.`);
  return parsed;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('a % that encodes nothing', 'Write a literal % as %25.');
  }
}

function numberOf(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  return /^\d{1,5}$/.test(text) ? Number(text) : refuse(`${name} is not a number`, `Write ${SHAPE}.`);
}

function modeOf(given: string | undefined, host: string): TlsMode {
  if (given === undefined) return isLocal(host) ? 'disable' : 'verify-full';
  const mode = TLS_MODES.find((it) => it === given);
  return mode ?? refuse(`sslmode=${given}`, `Use one of ${TLS_MODES.join(', ')}.`);
}

/** True for the folder of a Unix socket, or an abstract one. */
const isSocket = (host: string): boolean => host.startsWith('/') || host.startsWith('@');

/** True for this machine: the folder of a Unix socket, localhost, or a loopback address. */
function isLocal(host: string): boolean {
  if (isSocket(host) || host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

interface Files {
  readonly root: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

function tlsOf(mode: TlsMode, host: string, files: Files): (false | ConnectionOptions)[] {
  // A Unix socket never leaves the machine, and Postgres does not support TLS on it.
  if (mode === 'disable' || isSocket(host)) return [false];
  const base: ConnectionOptions = {
    ...(files.cert !== undefined && { cert: contents('sslcert', files.cert) }),
    ...(files.key !== undefined && { key: contents('sslkey', files.key) }),
  };
  const root: ConnectionOptions =
    files.root === undefined || files.root === 'system' ? {} : { ca: contents('sslrootcert', files.root) };
  const trusting: ConnectionOptions = { ...base, rejectUnauthorized: false };
  const verifyingChain: ConnectionOptions = {
    ...base,
    ...root,
    rejectUnauthorized: true,
    checkServerIdentity: () => undefined,
  };
  switch (mode) {
    case 'allow':
      return [false, trusting];
    case 'prefer':
      return [trusting, false];
    case 'require':
      return [files.root === undefined ? trusting : verifyingChain];
    case 'verify-ca':
      return [verifyingChain];
    case 'verify-full':
      return [{ ...base, ...root, rejectUnauthorized: true }];
  }
}

function contents(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return refuse(`${name} names a file that can’t be read: ${path}`, 'Give the path of a PEM file.');
  }
}
