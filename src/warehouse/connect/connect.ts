/**
 * Opens the warehouse: a Postgres server, or Postgres in a thread of this process with its files in a folder. The embedded kind
 * keeps committed data when the process is killed. A loss of power can lose its last seconds.
 */
import { access, chmod, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { LimitFunction } from 'p-limit';
import type { PoolConfig } from 'pg';
import { memoize } from '../../async/memoize.ts';
import type { Secret } from '../../config/values/secret.ts';
import { HeldError, UsageError } from '../../errors.ts';
import { assertServer } from './assert-server.ts';
import { type DatabaseClock, openDatabaseClock } from './clock.ts';
import { makeFolders } from '../lock/folder.ts';
import { operationsSchema } from '../sql/identifiers.ts';
import { acquireLock } from '../lock/lock.ts';
import type { OperationsTables } from '../schema/operations.ts';
import { openPool } from './postgres.ts';
import type { EmbeddedPool } from '../embedded/pool.ts';
import type { EmbeddedDatabase } from '../embedded/thread.ts';
import type { TextSession } from '../sql/read-only-session.ts';

/**
 * An open warehouse. Pooled connections share no session, so every statement names its schema: `schema` for the analyst
 * tables, `ops` for the operations tables. The embedded kind has one connection. So code inside a transaction must use
 * the handle of the transaction; any other handle causes a deadlock.
 */
export interface Warehouse {
  readonly kind: 'embedded' | 'postgres';
  readonly schema: string;
  readonly ops: string;
  /** The location of the warehouse for messages, without a password. */
  readonly place: string;
  /**
   * The connection. It implies no schema: use `db.withSchema(warehouse.ops)` or quoted names. `values.ts` defines the
   * types.
   */
  readonly db: Kysely<OperationsTables>;
  /** Runs statements of users. Call it through `query.ts`. */
  readonly session: TextSession;
  /**
   * Limits work that may hold a connection for long, so that short statements always get one. Call it through
   * `runLong`. Absent if the warehouse has one connection.
   */
  readonly longWork?: LimitFunction;
  /**
   * Access for a library that runs its own statements, such as the job queue. Absent if another process owns the
   * warehouse.
   */
  readonly driver?: Driver;
  /** The database's time, for all times that are stored or compared with stored ones. */
  readonly clock: DatabaseClock;
  /** True if the schemas must be neither created nor migrated. */
  readonly keepsSchema?: boolean;
  /** Set if another process owns the warehouse. It runs read-only statements; all others fail. */
  readonly isRemote?: true;
  /**
   * Throws a TransientError if the disk has too little space for the answers of requests in flight, given the size of
   * the largest answer so far. Absent for a server.
   */
  readonly assertRoom?: (largestAnswerBytes: number) => void;
  /** Fires when an embedded database ended by itself, with the error as its reason. A server can come back. */
  readonly failed?: AbortSignal;
  /** Closes the connections and releases the folder. A second call does nothing. */
  close(): Promise<void>;
}

/** Settings for a separate pool, or the embedded database, in which one transaction blocks all other statements. */
export type Driver =
  | { readonly kind: 'pool'; readonly settings: () => PoolConfig }
  | { readonly kind: 'embedded'; readonly runScript: EmbeddedPool['runScript'] };

export interface OpenSettings {
  /**
   * `embedded:FOLDER`, a postgres:// address, or `embedded:memory://` for a warehouse that is deleted when it is
   * closed.
   */
  readonly url: Secret;
  readonly schema: string;
}

export interface OpenEffects {
  /** The process's clock. */
  readonly now: () => Date;
  /** Milliseconds on a monotonic clock (default: `now`). */
  readonly elapsedMs?: () => number;
  /** Replaces the database's clock. */
  readonly databaseNow?: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal;
  /** The command of this process, for the message to another process that finds the folder in use. */
  readonly command?: string;
  /**
   * True if the caller only reads. Then the warehouse may be read through another process that owns the folder, or with a
   * role whose transactions are read-only.
   */
  readonly isReadOnly?: boolean;
  /** Replaces the reading of the free disk space of an embedded warehouse. */
  readonly freeBytes?: (folder: string) => number;
  /** An existing database for a `memory://` warehouse (default: a new one). It is closed with the warehouse. */
  readonly memory?: EmbeddedDatabase;
}

/** How long to wait for the folder: enough for a short command to end, and acceptable to a waiting user. */
const WAIT_FOR_FOLDER_MS = 10_000;
/** How often to look for an owner that serves readers. An owner serves them shortly after it opens the warehouse. */
const ASK_OWNER_EVERY_MS = 100;

const EMBEDDED = 'embedded:';
const MEMORY = 'memory://';
const LOCK_FILE = 'lock.json';

/**
 * Opens the warehouse that the settings name. Throws a UsageError for a wrong address or database, a CredentialError
 * for a refused login, and a TransientError for a database that can't be used now. Throws a HeldError if another
 * process owns the folder, unless the caller only reads and that process serves readers.
 */
export async function openWarehouse(settings: OpenSettings, effects: OpenEffects): Promise<Warehouse> {
  const names = { schema: settings.schema, ops: operationsSchema(settings.schema) };
  const url = settings.url.reveal();
  if (url.startsWith(EMBEDDED)) return openEmbedded(url.slice(EMBEDDED.length), names, effects);
  if (/^postgres(ql)?:\/\//.test(url)) return openServer(url, names, effects);
  throw new UsageError('warehouse.url is neither embedded:FOLDER nor a postgres:// address.', {
    next: 'Write embedded:.sluice, or postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  });
}

/** The names of the two schemas of a warehouse. */
export type SchemaNames = Pick<Warehouse, 'schema' | 'ops'>;

async function openServer(url: string, names: SchemaNames, effects: OpenEffects): Promise<Warehouse> {
  const { dialect, session, longWork, place: server, settings } = await openPool(url, readerSignal(effects));
  const db = new Kysely<OperationsTables>({ dialect });
  const close = memoize(() => db.destroy());
  let clock: DatabaseClock;
  let isWritable: boolean;
  try {
    isWritable = await assertServer(db, effects.isReadOnly === true);
    clock = await clockOf(db, effects);
  } catch (error) {
    await close();
    throw error;
  }
  // A function, so that printing a warehouse does not print its password.
  const driver = { kind: 'pool', settings: () => settings } as const;
  const place = `${server.database} on ${server.host}`;
  const kept = isWritable ? {} : { keepsSchema: true };
  return { kind: 'postgres', ...names, place, db, session, longWork, driver, clock, close, ...kept };
}

/** Ends the work of a caller who only reads. Others end their work in order. */
const readerSignal = ({ isReadOnly, signal }: OpenEffects): AbortSignal | undefined =>
  isReadOnly === true ? signal : undefined;

const clockOf = (db: Kysely<OperationsTables>, effects: OpenEffects): Promise<DatabaseClock> =>
  openDatabaseClock(async () => {
    if (effects.databaseNow) return effects.databaseNow();
    const { rows } = await sql<{
      ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
    return new Date(rows[0]?.ms ?? Number.NaN);
  }, effects);

async function openEmbedded(path: string, names: SchemaNames, effects: OpenEffects): Promise<Warehouse> {
  // Loaded only here, because a warehouse on a server does not need it.
  const { openFolder, openMemory } = await import('../embedded/folder.ts');
  if (path === MEMORY) {
    const database = effects.memory ?? (await openMemory());
    return embedded(database, { ...names, place: 'memory' }, effects, { close: () => database.close() });
  }
  if (path.trim() === '') {
    throw new UsageError('warehouse.url is “embedded:” without a folder.', {
      next: 'Write embedded:.sluice, or another folder.',
    });
  }
  const folder = resolve(path);
  await makeFolder(folder);
  let database: EmbeddedDatabase | undefined;
  const tryLock: TryLock = (waitMs) => lock(folder, effects, waitMs, () => database?.busyMs() !== undefined);
  const taken = await (effects.isReadOnly === true
    ? lockOrOwner(folder, names, effects, tryLock)
    : tryLock(WAIT_FOR_FOLDER_MS));
  if (typeof taken !== 'function') return taken;
  const release = taken;
  try {
    const { freeBytes } = effects;
    const opened = await openFolder(folder, { elapsed: () => performance.now(), ...(freeBytes && { freeBytes }) });
    const { room } = opened;
    database = opened.database;
    // Committed data survives the end of the thread. On a full disk the database is not closed, because closing it
    // writes and may never return.
    const close = async (): Promise<void> => {
      try {
        await (room.isFit() ? opened.database.close() : opened.database.end());
      } finally {
        release();
      }
    };
    const { assertStatement, assertSend } = room;
    const warehouse = await embedded(database, { ...names, place: folder }, effects, { close, assertStatement });
    return { ...warehouse, assertRoom: assertSend };
  } catch (error) {
    await database?.end();
    release();
    throw error;
  }
}

/** Waits for the folder's lock for at most this time, and returns the function that releases it. */
type TryLock = (waitMs: number) => Promise<() => void>;

function lock(folder: string, effects: OpenEffects, waitMs: number, isWriting: () => boolean): ReturnType<TryLock> {
  const { command = commandLine(), signal } = effects;
  return acquireLock(join(folder, LOCK_FILE), { command, waitMs, isWriting, ...(signal && { signal }) }, effects);
}

/** The folder's lock or a connection to its owner, whichever is available first. */
async function lockOrOwner(
  folder: string,
  names: SchemaNames,
  effects: OpenEffects,
  tryLock: TryLock,
): Promise<(() => void) | Warehouse> {
  const [{ findOwner, sessionAt }, { readsDialect }] = await Promise.all([
    import('../read-server/client.ts'),
    import('../read-server/dialect.ts'),
  ]);
  const deadline = effects.now().getTime() + WAIT_FOR_FOLDER_MS;
  for (;;) {
    const open = await findOwner(folder, Math.max(ASK_OWNER_EVERY_MS, deadline - effects.now().getTime()));
    if (open) {
      const db = new Kysely<OperationsTables>({ dialect: readsDialect(() => open(effects.signal)) });
      const place = `${folder}, through the process that owns it`;
      const close = memoize(() => db.destroy());
      // The owner runs on the same machine, so the clocks are the same.
      const clock = await openDatabaseClock(async () => (effects.databaseNow ?? effects.now)(), effects);
      return { kind: 'embedded', ...names, place, db, session: sessionAt(open), clock, isRemote: true, close };
    }
    try {
      return await tryLock(0);
    } catch (error) {
      if (!(error instanceof HeldError) || effects.now().getTime() >= deadline) throw error;
      await effects.sleep(ASK_OWNER_EVERY_MS, effects.signal);
    }
  }
}

interface EmbeddedOptions {
  readonly close: () => Promise<void>;
  /** Throws if the disk has too little space for a statement with parameters of this size. */
  readonly assertStatement?: (bytes: number) => void;
}

async function embedded(
  database: EmbeddedDatabase,
  names: SchemaNames & Pick<Warehouse, 'place'>,
  effects: OpenEffects,
  { close, assertStatement }: EmbeddedOptions,
): Promise<Warehouse> {
  const { openPool: openEmbeddedPool } = await import('../embedded/pool.ts');
  const { dialect, session, runScript } = openEmbeddedPool(database, {
    assertRoom: assertStatement,
    until: readerSignal(effects),
  });
  const db = new Kysely<OperationsTables>({ dialect });
  const closeBoth = async (): Promise<void> => {
    await db.destroy();
    await close();
  };
  const clock = await clockOf(db, effects);
  const driver = { kind: 'embedded', runScript } as const;
  const { failed } = database;
  return { kind: 'embedded', ...names, db, session, driver, clock, failed, close: memoize(closeBoth) };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    const created = await makeFolders(folder, 0o700);
    if (created !== undefined) await chmod(folder, 0o700);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new UsageError(`The folder ${folder} can’t be used: ${(cause as Error).message}`, {
      next: 'Set warehouse.url to another folder; with the shipped configs, set DATABASE_URL=embedded:FOLDER.',
      cause,
    });
  }
}

/** This command as its lock shows it to other processes: without a query, which may hold personal data, and what follows. */
function commandLine(): string {
  const words = process.argv.slice(2);
  const query = words.findIndex((word) => /\s/.test(word));
  return ['sluice', ...(query < 0 ? words : words.slice(0, query))].join(' ');
}
