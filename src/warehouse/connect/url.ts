/**
 * What a postgres:// address says, with TLS by libpq's rules for sslmode.
 * Without sslmode a remote server must prove its name, and one on this machine is spoken to in the clear.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { UsageError } from '../../errors.ts';

export const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** How to reach a server; of several ways to secure the connection the first that works is taken. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tlsMode: TlsMode;
  /** `false` is no TLS. */
  readonly tls: readonly (false | ConnectionOptions)[];
  readonly directTls: boolean;
  readonly channelBinding: boolean;
  readonly applicationName: string;
  readonly startupOptions: string | undefined;
  readonly connectWithinMs: number;
}

const DEFAULT_PORT = 5432;
const CONNECT_WITHIN_S = 10;

/** What a refused address is told to look like. */
const SHAPE = 'postgres://USER:PASSWORD@HOST:5432/DATABASE, with ?sslmode=… where TLS needs other than the default';

const ENCODE = 'encode characters such as @ / ? # in the password as %40 %2F %3F %23';

const TAKEN = [
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
/** Parameters of libpq that would change nothing here: keep-alive is always on, and a server must take writes. */
const IGNORED = [
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'target_session_attrs',
  'gssencmode',
  'fallback_application_name',
];

const refuse = (found: string, next: string): never => {
  throw new UsageError(`warehouse.url: ${found}`, { next });
};

/** Reads a postgres:// address. Throws a UsageError, without the address, when it can't be one. */
export function parseAddress(url: string): Address {
  const parsed = parseUrl(url);
  const given = (name: string): string | undefined => present(parsed.searchParams.get(name));
  for (const name of parsed.searchParams.keys()) {
    if (!TAKEN.includes(name) && !IGNORED.includes(name))
      refuse(`unknown parameter ${name}`, `Leave it out; allowed are ${TAKEN.join(', ')}.`);
  }
  const host = given('host') ?? present(decoded(parsed.hostname.replace(/^\[(.*)\]$/, '$1'))) ?? 'localhost';
  if (host.includes(','))
    refuse('several hosts', 'Name one host; a pooler or a virtual address can stand for several.');
  const tlsMode = modeOf(given('sslmode'), host);
  const directTls = given('sslnegotiation') === 'direct';
  if (directTls && !['require', 'verify-ca', 'verify-full'].includes(tlsMode)) {
    refuse(`sslnegotiation=direct with sslmode=${tlsMode}`, 'Use it with sslmode=require, verify-ca or verify-full.');
  }
  return {
    host,
    port: numberOf('port', given('port') ?? parsed.port, DEFAULT_PORT),
    database: given('dbname') ?? present(decoded(parsed.pathname.replace(/^\//, ''))),
    user: given('user') ?? present(decoded(parsed.username)),
    password: given('password') ?? present(decoded(parsed.password)),
    tlsMode,
    tls: tlsOf(tlsMode, host, { root: given('sslrootcert'), cert: given('sslcert'), key: given('sslkey') }),
    directTls,
    channelBinding: ['prefer', 'require'].includes(given('channel_binding') ?? ''),
    applicationName: given('application_name') ?? 'sluice',
    startupOptions: given('options'),
    connectWithinMs: numberOf('connect_timeout', given('connect_timeout'), CONNECT_WITHIN_S) * 1000,
  };
}

/** A parameter that is empty counts as not given. */
const present = (text: string | null): string | undefined => (text === null || text === '' ? undefined : text);

function parseUrl(url: string): URL {
  // WHATWG refuses a user without a host, which libpq takes for the local socket.
  const withHost = url.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost');
  if (!URL.canParse(withHost)) return refuse('not an address', `Write ${SHAPE}; ${ENCODE}.`);
  const parsed = new URL(withHost);
  // Else the end of such a password would be looked up as a host, or told as the name of a database.
  if (parsed.pathname.includes('@')) refuse('an @ after the host', `Write ${SHAPE}; ${ENCODE}.`);
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

/** True of this machine itself: a unix socket's folder, localhost, or a loopback address. */
function isLocal(host: string): boolean {
  if (host.startsWith('/') || host.startsWith('@') || host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

interface Files {
  readonly root: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

function tlsOf(mode: TlsMode, host: string, files: Files): (false | ConnectionOptions)[] {
  // A unix socket never leaves the machine, and Postgres speaks no TLS on it.
  if (mode === 'disable' || host.startsWith('/') || host.startsWith('@')) return [false];
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
