/**
 * Opens a pool of connections to a Postgres server, fit for a transaction pooler in between. A statement that starts with
 * `PLANNED_ONCE` is parsed and planned once a connection where no pooler is; to the server it is a comment. One that copies
 * takes its rows as its one parameter.
 */
import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import {
  type Dialect,
  type DialectAdapter,
  type Driver,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
} from 'kysely';
import { Client, type ClientConfig, type Pool, type PoolClient, type PoolConfig } from 'pg';
import { type Address, parseAddress } from './url.ts';
import { cancelStatement } from './cancel.ts';
import { copy, isCopy } from '../sql/copy.ts';
import { RetryingPool } from './pool.ts';
import { assertSettings, POOLER_SETTINGS, SESSION_SETTINGS, settingNames, SETTINGS_QUERY } from './session-settings.ts';
import { sessionOfPool, type TextSession } from '../sql/read-only-session.ts';
import { connectError, errorCode, isAboutRole, type ServerAddress } from '../sql/errors.ts';
import { parserFor } from '../sql/values.ts';

/** Enough for a load, its ledger and a few readers; a run's requests wait for the service, not for the database. */
const MOST_CONNECTIONS = 7;
/** A load may wait for its turn behind large ones; longer, and something holds connections that it should give back. */
const TURN_WITHIN_MS = 60_000;
/** A connection that a router has forgotten is noticed within minutes; by default only after two hours. */
const KEEP_ALIVE_AFTER_MS = 30_000;

/** Shutdowns, a database that is dropped, and limits of time; how grave an error is the server says in its own language. */
const ENDS_SESSION = /^(?:57P0|25P0[34])/;

/** For short statements that run all the time: planning one can take several times as long as running it. */
export const PLANNED_ONCE = '/* planned once */';

/** Whether statements may be prepared: not where the next one may reach another session of the server. */
interface Plans {
  areKept: boolean;
}

export interface OpenPool {
  readonly dialect: Dialect;
  readonly session: TextSession;
  readonly place: ServerAddress;
  /** What connects in the way that worked, for a pool of another's own. */
  readonly settings: PoolConfig;
}

/** Migrations lock for their transaction, in `migrate.ts`: a lock of the session could stay behind on a pooler's connection. */
class TransactionAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

type RolledBack = Parameters<PostgresDriver['rollbackTransaction']>[0];

/** Of a connection that is gone the server takes back what was begun. That it can't be told to would hide what went wrong. */
class DiscreetDriver extends PostgresDriver {
  override async rollbackTransaction(connection: RolledBack): Promise<void> {
    // The driver uses the connection for nothing else then.
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

class PooledDialect extends PostgresDialect {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new DiscreetDriver({ pool: this.#pool });
  }

  override createAdapter(): DialectAdapter {
    return new TransactionAdapter();
  }
}

/** Connects in the first way that the address allows and the server takes. Throws what `connectError` says. */
export async function openPool(url: string): Promise<OpenPool> {
  const address = parseAddress(url);
  const place = placeOf(address);
  const plans: Plans = { areKept: false };
  const { pool, settings } = await connectSecured(address, plans, SESSION_SETTINGS)
    .catch((error: unknown) => {
      if (errorCode(error) !== UNSUPPORTED_PARAMETER) throw error;
      return connectSecured(address, plans, POOLER_SETTINGS);
    })
    .catch((error: unknown) => {
      throw connectError(error, place);
    });
  const session = sessionOfPool(pool, (client) => cancelStatement(client, settings));
  return { dialect: new PooledDialect(pool), session, place, settings };
}

/** What a pooler answers to a setting that it cannot keep for a client. */
const UNSUPPORTED_PARAMETER = '08P01';

type Settings = Readonly<Record<string, string>>;

/** Connects in the first of the ways to secure the connection that the server takes. */
async function connectSecured(
  address: Address,
  plans: Plans,
  startup: Settings,
): Promise<{ readonly pool: Pool; readonly settings: PoolConfig }> {
  const [first = false, other] = address.tls;
  const settings = poolConfig(address, first, plans, startup);
  try {
    return { pool: await connect(settings, plans), settings };
  } catch (error) {
    if (other === undefined || !wantsOtherSecurity(error)) throw error;
    const otherSettings = poolConfig(address, other, plans, startup);
    const pool = await connect(otherSettings, plans).catch((second: unknown) => {
      // The login was refused; that the server takes no TLS is not the cause.
      throw speaksNoTls(second) ? error : second;
    });
    return { pool, settings: otherSettings };
  }
}

const speaksNoTls = (error: unknown): boolean => /does not support SSL/i.test((error as Error).message);

/** `no TLS here`, or `pg_hba.conf` has no line for this kind of connection. */
const wantsOtherSecurity = (error: unknown): boolean =>
  (errorCode(error) === '28000' && !isAboutRole(error)) || speaksNoTls(error);

async function connect(settings: PoolConfig, plans: Plans): Promise<Pool> {
  const pool = new RetryingPool({ ...settings, connectionTimeoutMillis: TURN_WITHIN_MS });
  // Without these listeners a connection that dies, idle or between two statements, ends the process. The statement
  // that needs the connection next fails by itself or gets another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    const client = await pool.connect();
    try {
      plans.areKept = await isDirect(client);
      assertSettings((await client.query<{ name: string; setting: string }>(SETTINGS_QUERY, [settingNames()])).rows);
    } finally {
      client.release();
    }
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** A pooler tells its clients of a session of its own; the server tells the process that answers. */
async function isDirect(client: PoolClient): Promise<boolean> {
  const told = (client as unknown as { readonly processID: number | null }).processID;
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === told;
}

function poolConfig(address: Address, ssl: Address['tls'][number], plans: Plans, startup: Settings): PoolConfig {
  return {
    host: address.host,
    port: address.port,
    ...(address.database !== undefined && { database: address.database }),
    ...(address.user !== undefined && { user: address.user }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.startupOptions !== undefined && { options: address.startupOptions }),
    ssl,
    ...(address.directTls && { sslnegotiation: 'direct' as const }),
    ...(address.channelBinding && { enableChannelBinding: true }),
    application_name: address.applicationName,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: TURN_WITHIN_MS,
    Client: clientOf(address.connectWithinMs, plans, startup),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: ((oid: number) => parserFor(oid)) as never },
  };
}

const clientOf = (connectWithinMs: number, plans: Plans, startup: Settings): typeof Client =>
  class extends Client {
    constructor(config?: string | ClientConfig) {
      // The pool has one limit for a free connection and for a new one; a server that does not answer is told sooner.
      // It hides the password from a spread, which copies only what can be listed.
      super(
        Object.assign(Object.create(config as ClientConfig) as ClientConfig, {
          connectionTimeoutMillis: connectWithinMs,
        }),
      );
      const { connection } = this as unknown as { readonly connection: EventEmitter & { readonly stream: Socket } };
      // Where there is no password to log in with, the driver would leave the connection half open, and the server
      // waits a minute for it, with all that waits for its sessions, such as dropping a database.
      connection.on('error', () => connection.stream.destroy());
      // The statement under way fails, and the pool would lend the connection again until it has seen the socket end.
      this.once('connect', () =>
        connection.prependListener('errorMessage', (told: unknown) => {
          if (ENDS_SESSION.test(errorCode(told) ?? '')) void this.end();
        }),
      );
    }

    /** The driver's own, which its types leave out: what the connection starts with. */
    getStartupConf(): Settings {
      const { getStartupConf } = Client.prototype as unknown as { readonly getStartupConf: (this: Client) => Settings };
      return { ...getStartupConf.call(this), ...startup };
    }

    override query(...[text, values, ...others]: unknown[]): never {
      const query = super.query.bind(this) as (...given: unknown[]) => never;
      if (typeof text === 'string' && isCopy(text))
        return copy({ query }, text, (values as [string | Iterable<string>])[0]) as never;
      const isNamed = plans.areKept && typeof text === 'string' && text.startsWith(PLANNED_ONCE);
      return isNamed ? query({ name: nameOf(text), text, values }, ...others) : query(text, values, ...others);
    }
  };

const names = new Map<string, string>();

/** The name that the connection knows the statement by: its own, whoever else uses the session. */
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
