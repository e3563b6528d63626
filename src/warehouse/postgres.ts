/** Opens a pool of connections to a Postgres server, fit for a transaction pooler in between. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type Dialect, type DialectAdapter, PostgresAdapter, PostgresDialect } from 'kysely';
import { Client, type ClientConfig, Pool, type PoolConfig } from 'pg';
import { type Address, parseAddress } from './address.ts';
import { cancelStatement } from './cancel.ts';
import { sessionOfPool, type TextSession } from './text-session.ts';
import { connectTrouble, errorCode, type Place } from './trouble.ts';
import { parserFor } from './values.ts';

/** Enough for a load, its ledger and a few readers; a run's requests wait for the service, not for the database. */
const MOST_CONNECTIONS = 10;
/** A load may wait for its turn behind large ones; longer, and something holds connections that it should give back. */
const TURN_WITHIN_MS = 60_000;
/** A connection that a router has forgotten is noticed within minutes; by default only after two hours. */
const KEEP_ALIVE_AFTER_MS = 30_000;

export interface OpenPool {
  readonly dialect: Dialect;
  readonly session: TextSession;
  readonly place: Place;
  /** What connects in the way that worked, for a pool of another's own. */
  readonly settings: PoolConfig;
}

/** Migrations lock for their transaction, in `migrate.ts`: a lock of the session could stay behind on a pooler's connection. */
class TransactionAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class PooledDialect extends PostgresDialect {
  override createAdapter(): DialectAdapter {
    return new TransactionAdapter();
  }
}

/** Connects in the first way that the address allows and the server takes. Throws what `connectTrouble` says. */
export async function openPool(url: string): Promise<OpenPool> {
  const address = parseAddress(url);
  const place = placeOf(address);
  const [first, ...others] = address.tls;
  let settings = poolConfig(address, first ?? false);
  const pool = await connect(settings).catch(async (error: unknown) => {
    const [other] = others;
    if (other === undefined || !wantsOtherSecurity(error)) throw connectTrouble(error, place);
    settings = poolConfig(address, other);
    return connect(settings).catch((second: unknown) => {
      throw connectTrouble(second, place);
    });
  });
  const session = sessionOfPool(pool, (client) => cancelStatement(client, settings));
  return { dialect: new PooledDialect({ pool }), session, place, settings };
}

/** `no TLS here`, or `pg_hba.conf` has no line for this kind of connection. */
const wantsOtherSecurity = (error: unknown): boolean =>
  errorCode(error) === '28000' || /does not support SSL/i.test((error as Error).message);

async function connect(settings: PoolConfig): Promise<Pool> {
  const pool = new Pool(settings);
  // Without these listeners a connection that dies, idle or between two statements, ends the process. The statement
  // that needs the connection next fails by itself or gets another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    const client = await pool.connect();
    client.release();
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function poolConfig(address: Address, ssl: Address['tls'][number]): PoolConfig {
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
    Client: clientThatConnects(address.connectWithinMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: ((oid: number) => parserFor(oid)) as never },
  };
}

/** The pool has one limit for a free connection and for a new one; a server that does not answer is told sooner. */
const clientThatConnects = (withinMs: number): typeof Client =>
  class extends Client {
    constructor(config?: string | ClientConfig) {
      // The pool hides the password from a spread, which copies only what can be listed.
      super(
        Object.assign(Object.create(config as ClientConfig) as ClientConfig, { connectionTimeoutMillis: withinMs }),
      );
      const { connection } = this as unknown as { readonly connection: EventEmitter & { readonly stream: Socket } };
      // Where there is no password to log in with, the driver would leave the connection half open, and the server
      // waits a minute for it, with all that waits for its sessions, such as dropping a database.
      connection.on('error', () => connection.stream.destroy());
    }
  };

const placeOf = ({ host, port, database, user }: Address): Place => ({
  host,
  port,
  user: user ?? process.env['PGUSER'] ?? process.env['USER'] ?? 'the default user',
  database: database ?? process.env['PGDATABASE'] ?? user ?? 'of the user’s name',
});
