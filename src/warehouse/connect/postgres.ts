/**
 * Opens a pool of connections to a Postgres server. It also works through a transaction pooler. A statement that ends
 * with the comment `PLANNED_ONCE` is parsed and planned once per connection if there is no pooler. A `copy` statement
 * takes its rows as its only parameter.
 */
import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Dialect } from 'kysely';
import { Client, type ClientConfig, type PoolClient, type PoolConfig } from 'pg';
import type { LimitFunction } from 'p-limit';
import { stopOnAbort } from './stop-on-abort.ts';
import { type Address, parseAddress } from './url.ts';
import { cancelStatement } from './cancel.ts';
import { PooledDialect } from './dialect.ts';
import { beginWriting, TRANSACTION_TIMEOUT } from './idle-limit.ts';
import { PLANNED_ONCE } from '../sql/compile-once.ts';
import { copy, type CopySource, isCopy } from '../sql/copy.ts';
import { RetryingPool } from './pool.ts';
import { assertSettings, POOLER_SETTINGS, settingNames, SETTINGS_QUERY, STARTUP_SETTINGS } from './session-settings.ts';
import { sessionOfPool, type TextSession } from '../sql/read-only-session.ts';
import { connectError, isAboutRole, type ServerAddress } from '../sql/errors.ts';
import { parserFor } from '../sql/values.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

/**
 * Enough for a few loads, the ledger and a few readers. The requests of a run wait for the service, not for the database.
 */
export const MOST_CONNECTIONS = 7;
/**
 * How long to wait for a free connection. A load may wait behind large ones; a longer wait means a leaked connection.
 */
const ACQUIRE_TIMEOUT_MS = 60_000;
/** Detects a connection that a router dropped within minutes. The default of the system is two hours. */
const KEEP_ALIVE_AFTER_MS = 30_000;

/**
 * Errors that end the session: shutdowns, a dropped database, and timeouts. The severity is localized, so codes decide.
 */
const ENDS_SESSION = /^(?:57P0|25P0[34])/;

/** Whether statements may be prepared. They may not if the next one may reach another session of the server. */
interface Plans {
  areKept: boolean;
}

export interface OpenPool {
  readonly dialect: Dialect;
  readonly session: TextSession;
  readonly longWork: LimitFunction;
  readonly place: ServerAddress;
  /** The settings that worked, for another pool. */
  readonly settings: PoolConfig;
}

/**
 * A pool that is connected in the first way that the address allows and the server accepts. If its user only reads, `until`
 * ends the work when it aborts. Throws errors of `connectError`.
 */
export async function openPool(url: string, until?: AbortSignal): Promise<OpenPool> {
  const address = parseAddress(url);
  const place = placeOf(address);
  const plans: Plans = { areKept: false };
  const { pool, begin, settings } = await connectSecured(address, plans, STARTUP_SETTINGS)
    .catch((error: unknown) => {
      // A pooler that cannot keep a setting for a client.
      if (errorCode(error) !== SQL_STATE.protocolViolation) throw error;
      return connectSecured(address, plans, POOLER_SETTINGS);
    })
    .catch((error: unknown) => {
      throw connectError(error, place);
    });
  const cancel = (client: PoolClient): void => cancelStatement(client, settings);
  if (until) stopOnAbort(pool, cancel, until);
  const inSession = sessionOfPool(pool, cancel);
  const { longWork } = pool;
  const session: TextSession = (work, signal) => longWork(() => inSession(work, signal));
  return { dialect: new PooledDialect(pool, begin), session, longWork, place, settings };
}

type Settings = Readonly<Record<string, string>>;

/** A pool with its first connection, and the text with which its server begins a transaction that writes. */
interface Connected {
  readonly pool: RetryingPool;
  readonly begin: string;
}

/** Connects with the first security setting of the address that the server accepts. */
async function connectSecured(
  address: Address,
  plans: Plans,
  startup: Settings,
): Promise<Connected & { readonly settings: PoolConfig }> {
  const [first = false, other] = address.tls;
  const settings = poolConfig(address, first, plans, startup);
  try {
    return { ...(await connect(settings, plans)), settings };
  } catch (error) {
    if (other === undefined || !wantsOtherSecurity(error)) throw error;
    const otherSettings = poolConfig(address, other, plans, startup);
    const connected = await connect(otherSettings, plans).catch((second: unknown) => {
      // The first error shows the cause, a refused login. The missing TLS support is not the cause.
      throw speaksNoTls(second) ? error : second;
    });
    return { ...connected, settings: otherSettings };
  }
}

const speaksNoTls = (error: unknown): boolean => /does not support SSL/i.test((error as Error).message);

/** True if the server does not support TLS, or if `pg_hba.conf` has no line for this kind of connection. */
const wantsOtherSecurity = (error: unknown): boolean =>
  (errorCode(error) === SQL_STATE.invalidAuthorization && !isAboutRole(error)) || speaksNoTls(error);

async function connect(settings: PoolConfig, plans: Plans): Promise<Connected> {
  const pool = new RetryingPool({ ...settings, connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS });
  // Without these listeners, a connection that is lost while idle would end the process. The next statement on the
  // connection fails or gets another connection.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    const client = await pool.connect();
    try {
      plans.areKept = await isDirect(client);
      if (!plans.areKept) await assertTransactions(client);
      const names = settingNames(TRANSACTION_TIMEOUT);
      const { rows } = await client.query<{ name: string; setting: string }>(SETTINGS_QUERY, [names]);
      assertSettings(rows);
      return { pool, begin: beginWriting(rows.some(({ name }) => name === TRANSACTION_TIMEOUT)) };
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** True without a pooler. A pooler reports a process number of its own; the server reports that of its process. */
async function isDirect(client: PoolClient): Promise<boolean> {
  const reported = (client as unknown as { readonly processID: number | null }).processID;
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === reported;
}

/** Throws the pooler's error if it allows no transactions. Only an open transaction shows it. */
async function assertTransactions(client: PoolClient): Promise<void> {
  await client.query('begin');
  await client.query('rollback');
}

function poolConfig(address: Address, ssl: Address['tls'][number], plans: Plans, startup: Settings): PoolConfig {
  return {
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password,
    options: address.startupOptions,
    ssl,
    sslnegotiation: address.directTls ? 'direct' : undefined,
    enableChannelBinding: address.channelBinding,
    application_name: address.applicationName,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    Client: clientOf(address.connectWithinMs, plans, startup),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: ((oid: number) => parserFor(oid)) as never },
  };
}

const clientOf = (connectWithinMs: number, plans: Plans, startup: Settings): typeof Client =>
  class extends Client {
    constructor(config?: string | ClientConfig) {
      // The pool has one timeout for free and new connections. A server that does not answer needs a shorter one. The
      // password is not enumerable, so a spread would lose it.
      super(
        Object.assign(Object.create(config as ClientConfig) as ClientConfig, {
          connectionTimeoutMillis: connectWithinMs,
        }),
      );
      const { connection } = this as unknown as { readonly connection: EventEmitter & { readonly stream: Socket } };
      // If there is no password, the driver would leave the connection half open. The server would wait a minute for
      // it, and so would statements that wait for its sessions, such as dropping a database.
      connection.on('error', () => connection.stream.destroy());
      // The running statement fails. Without this, the pool would lend the connection again until the socket closes.
      this.once('connect', () =>
        connection.prependListener('errorMessage', (message: unknown) => {
          if (ENDS_SESSION.test(errorCode(message) ?? '')) void this.end();
        }),
      );
    }

    /** Overrides a method that the driver's types omit: the startup parameters of the connection. */
    getStartupConf(): Settings {
      const { getStartupConf } = Client.prototype as unknown as { readonly getStartupConf: (this: Client) => Settings };
      return { ...getStartupConf.call(this), ...startup };
    }

    override query(...[text, values, ...others]: unknown[]): never {
      const query = super.query.bind(this) as (...parameters: unknown[]) => never;
      if (typeof text === 'string' && isCopy(text)) return copy({ query }, text, (values as [CopySource])[0]) as never;
      const isNamed = plans.areKept && typeof text === 'string' && text.endsWith(PLANNED_ONCE);
      return isNamed ? query({ name: nameOf(text), text, values }, ...others) : query(text, values, ...others);
    }
  };

const names = new Map<string, string>();

/** The name of the prepared statement, a digest of its text. It is unique even if other programs use the session. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `sluice_${hash('sha256', text).slice(0, 32)}`;
  names.set(text, name);
  return name;
}

const placeOf = ({ host, port, database, user }: Address): ServerAddress => ({
  host,
  port,
  user: user ?? process.env['PGUSER'] ?? process.env['USER'] ?? 'the default user',
  database: database ?? process.env['PGDATABASE'] ?? user ?? 'of the user’s name',
});
