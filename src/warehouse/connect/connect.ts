/**
 * Opens the warehouse: a Postgres server, or Postgres inside this process with its files in a folder. The second keeps
 * what it has acknowledged when the process is killed; a loss of power can take the last seconds from it.
 */
import { access, chmod, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, sql } from 'kysely';
import type { PoolConfig } from 'pg';
import type { Secret } from '../../config/values/secret.ts';
import { HeldError, TransientError, UsageError } from '../../errors.ts';
import { type DatabaseClock, openDatabaseClock } from './clock.ts';
import { makeFolders } from '../lock/folder.ts';
import { operationsSchema } from '../sql/identifiers.ts';
import { acquireLock } from '../lock/lock.ts';
import type { OperationsTables } from '../schema/operations.ts';
import { openPool } from './postgres.ts';
import { sessionOfPGlite, type TextSession } from '../sql/read-only-session.ts';

/**
 * An open warehouse. Pooled connections share no session, so every statement names its schema: `schema` for what
 * analysts read, `ops` for the machinery. The embedded kind has one connection; inside a transaction only the
 * transaction's own handle may be used, or both wait for each other forever.
 */
export interface Warehouse {
  readonly kind: 'embedded' | 'postgres';
  readonly schema: string;
  readonly ops: string;
  /** Where it is, for messages; without a password. */
  readonly place: string;
  /** No schema is implied: `db.withSchema(warehouse.ops)`, or names quoted in SQL. Values are as `values.ts` says. */
  readonly db: Kysely<OperationsTables>;
  /** Runs statements that others wrote; `query.ts` is the way to use it. */
  readonly session: TextSession;
  /**
   * The way to the database for a library that runs its own statements, as the job queue does; absent where another process has it.
   */
  readonly driver?: Driver;
  /** The database's time, for everything that is stored or compared with what is stored. */
  readonly clock: DatabaseClock;
  /** Another process has it and answers what only reads; every other statement fails. */
  readonly isRemote?: true;
  /**
   * Throws a TransientError when the disk has too little room for the answers of requests in flight, given the bytes of
   * the largest answer so far. Absent where the disk is a server's.
   */
  readonly assertRoom?: (largestAnswerBytes: number) => void;
  /** Ends connections and lets go of the folder; a second call does nothing. */
  close(): Promise<void>;
}

/** Settings for a pool of one's own; or the embedded database, in which a transaction of anybody keeps all others out. */
export type Driver =
  | { readonly kind: 'pool'; readonly settings: () => PoolConfig }
  | { readonly kind: 'pglite'; readonly pglite: PGlite };

export interface OpenSettings {
  /** `embedded:FOLDER`, `embedded:memory://` for one that is gone when closed, or a postgres:// address. */
  readonly url: Secret;
  readonly schema: string;
}

export interface OpenEffects {
  /** The process's clock. */
  readonly now: () => Date;
  /** Milliseconds on a clock that nothing sets; absent, `now` is taken for one. */
  readonly elapsedMs?: () => number;
  /** Stands in for the database's clock. */
  readonly databaseNow?: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal;
  /** What this process is doing, for the message to another that finds the folder in use. */
  readonly command?: string;
  /** It is only to be read: where another process has the folder and answers readers, through that process. */
  readonly isReadOnly?: boolean;
  /** Stands in for the free bytes of the disk of an embedded warehouse. */
  readonly freeBytes?: (folder: string) => number;
  /** The database of a `memory://` warehouse, where it is not to be made from nothing; closed with the warehouse. */
  readonly memory?: PGlite;
}

/** The oldest Postgres that has everything the statements use. */
const OLDEST_SERVER = 14;
/** Long enough for a short command to end, short enough for a person to wait. */
const WAIT_FOR_FOLDER_MS = 10_000;
/** Who opens a warehouse answers readers a moment later. */
const ASK_OWNER_EVERY_MS = 100;

const EMBEDDED = 'embedded:';
const MEMORY = 'memory://';
const LOCK_FILE = 'lock.json';

/**
 * Opens the warehouse that the settings name, ready to be written to. Throws a UsageError for an address or database that
 * is wrong, a CredentialError for a login that is refused, a TransientError for a database that can't be used now, and a
 * HeldError when another process has the folder and does not answer readers, or is not only to be read.
 */
export async function openWarehouse(settings: OpenSettings, effects: OpenEffects): Promise<Warehouse> {
  const ops = operationsSchema(settings.schema);
  const url = settings.url.reveal();
  if (url.startsWith(EMBEDDED))
    return openEmbedded(url.slice(EMBEDDED.length), { schema: settings.schema, ops }, effects);
  if (/^postgres(ql)?:\/\//.test(url)) return openServer(url, { schema: settings.schema, ops }, effects);
  throw new UsageError('warehouse.url is neither embedded:FOLDER nor a postgres:// address.', {
    next: 'Write embedded:.sluice, or postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  });
}

type Names = Pick<Warehouse, 'schema' | 'ops'>;

async function openServer(url: string, names: Names, effects: OpenEffects): Promise<Warehouse> {
  const { dialect, session, place, settings } = await openPool(url);
  const db = new Kysely<OperationsTables>({ dialect });
  const close = once(() => db.destroy());
  let clock: DatabaseClock;
  try {
    await refuseUnfit(db);
    clock = await clockOf(db, effects);
  } catch (error) {
    await close();
    throw error;
  }
  // Behind a function, so that whoever prints a warehouse does not print its password.
  const driver = { kind: 'pool', settings: () => settings } as const;
  return { kind: 'postgres', ...names, place: `${place.database} on ${place.host}`, db, session, driver, clock, close };
}

const clockOf = (db: Kysely<OperationsTables>, effects: OpenEffects): Promise<DatabaseClock> =>
  openDatabaseClock(async () => {
    if (effects.databaseNow) return effects.databaseNow();
    const { rows } = await sql<{
      ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
    return new Date(rows[0]?.ms ?? Number.NaN);
  }, effects);

async function refuseUnfit(db: Kysely<OperationsTables>): Promise<void> {
  const { rows } = await sql<{ version: number; read_only: string; encoding: string }>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('transaction_read_only') as read_only,
      current_setting('server_encoding') as encoding`.execute(db);
  const { version = 0, read_only: readOnly, encoding } = rows[0] ?? {};
  if (version < OLDEST_SERVER) {
    throw new UsageError(`The database is Postgres ${version}; Sluice needs ${OLDEST_SERVER} or newer.`, {
      next: 'Upgrade the server, or use another.',
    });
  }
  if (encoding !== 'UTF8') {
    throw new UsageError(`The database’s encoding is ${encoding}, which can’t hold every text.`, {
      next: 'Create one with encoding UTF8 (createdb --encoding UTF8 --template template0 NAME).',
    });
  }
  if (readOnly === 'on') {
    throw new TransientError('The database takes no writes: it is a standby or set to read-only.', {
      next: 'Name the primary in DATABASE_URL, or try again after the failover.',
    });
  }
}

async function openEmbedded(where: string, names: Names, effects: OpenEffects): Promise<Warehouse> {
  // Loaded only here: who has a server does without.
  const { dialectOf, openFolder, openMemory } = await import('./pglite.ts');
  if (where === MEMORY) {
    const pglite = effects.memory ?? (await openMemory());
    const db = new Kysely<OperationsTables>({ dialect: dialectOf(pglite) });
    return {
      kind: 'embedded',
      ...names,
      place: 'memory',
      db,
      session: sessionOfPGlite(pglite),
      driver: { kind: 'pglite', pglite },
      clock: await clockOf(db, effects),
      close: once(() => close(db, pglite)),
    };
  }
  if (where.trim() === '') {
    throw new UsageError('warehouse.url is embedded: without a folder.', {
      next: 'Write embedded:.sluice, or another folder.',
    });
  }
  const folder = resolve(where);
  await makeFolder(folder);
  const taken = effects.isReadOnly === true ? await lockOrOwner(folder, names, effects) : await lock(folder, effects);
  if (typeof taken !== 'function') return taken;
  const release = taken;
  try {
    const { freeBytes } = effects;
    const { pglite, room, unwatch } = await openFolder(folder, {
      elapsed: () => performance.now(),
      ...(freeBytes && { freeBytes }),
    });
    const db = new Kysely<OperationsTables>({ dialect: dialectOf(pglite) });
    return {
      kind: 'embedded',
      ...names,
      place: folder,
      db,
      session: sessionOfPGlite(pglite),
      driver: { kind: 'pglite', pglite },
      clock: await clockOf(db, effects),
      assertRoom: room.assertSend,
      // What is committed outlasts the end of the process; to close the database writes, and may never return.
      close: once(async () => {
        try {
          if (room.isFit()) await close(db, pglite);
        } finally {
          unwatch();
          release();
        }
      }),
    };
  } catch (error) {
    release();
    throw error;
  }
}

const lock = (folder: string, effects: OpenEffects, waitMs = WAIT_FOR_FOLDER_MS): Promise<() => void> =>
  acquireLock(
    join(folder, LOCK_FILE),
    { command: effects.command ?? commandLine(), waitMs, ...(effects.signal && { signal: effects.signal }) },
    effects,
  );

/** The folder's lock, or the warehouse as its owner shows it: whichever can be had first. */
async function lockOrOwner(folder: string, names: Names, effects: OpenEffects): Promise<(() => void) | Warehouse> {
  const [{ findOwner, sessionAt }, { readsDialect }] = await Promise.all([
    import('../read-server/client.ts'),
    import('../read-server/dialect.ts'),
  ]);
  const deadline = effects.now().getTime() + WAIT_FOR_FOLDER_MS;
  for (;;) {
    const open = await findOwner(folder);
    if (open) {
      const db = new Kysely<OperationsTables>({ dialect: readsDialect(() => open(effects.signal)) });
      const place = `${folder}, through the process that has it`;
      const close = once(() => db.destroy());
      // The owner is a process of the same machine.
      const clock = await openDatabaseClock(async () => (effects.databaseNow ?? effects.now)(), effects);
      return { kind: 'embedded', ...names, place, db, session: sessionAt(open), clock, isRemote: true, close };
    }
    try {
      return await lock(folder, effects, 0);
    } catch (error) {
      if (!(error instanceof HeldError) || effects.now().getTime() >= deadline) throw error;
      await effects.sleep(ASK_OWNER_EVERY_MS, effects.signal);
    }
  }
}

/** Kysely opens its driver with the first query, and closes only what it opened. */
async function close(db: Kysely<OperationsTables>, pglite: PGlite): Promise<void> {
  await db.destroy();
  if (!pglite.closed) await pglite.close();
}

async function makeFolder(folder: string): Promise<void> {
  try {
    const created = await makeFolders(folder, 0o700);
    if (created !== undefined) await chmod(folder, 0o700);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new UsageError(`The folder ${folder} can’t be used: ${(cause as Error).message}`, {
      next: 'Name another in warehouse.url.',
      cause,
    });
  }
}

/** The words after the program, which tell one command from another; they hold no secret, flags never do. */
const commandLine = (): string => `sluice ${process.argv.slice(2).join(' ')}`.trim();

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
