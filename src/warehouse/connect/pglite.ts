/** Opens Postgres inside this process. Its files are in a folder that only this process may use. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect, type PGliteDialectConfig } from 'kysely';
import { TransientError } from '../../errors.ts';
import { copyFromBlob, isCopy, textParts } from '../sql/copy.ts';
import { type DiskRoom, type DiskRoomEffects, openDiskRoom } from '../lock/disk-room.ts';
import { parameterText, parserFor } from '../sql/values.ts';
import { startWatchdog } from '../lock/watchdog.ts';

/** A subfolder of the warehouse's folder, so that the lock and other files are outside of Postgres' own files. */
const DATA = 'data';
const UNFINISHED = 'data.new';

/** A database in a folder, with a monitor of the folder's disk. */
export interface FolderDatabase {
  readonly pglite: PGlite;
  readonly room: DiskRoom;
  /** Stops the watchdog. It does not close the database. */
  readonly unwatch: () => void;
}

/**
 * Opens the database in the folder, and creates it the first time. The caller must hold the folder's lock. Statements
 * throw a TransientError if the folder is gone or the disk has too little space.
 */
export async function openFolder(folder: string, effects: Omit<DiskRoomEffects, 'onScarce'>): Promise<FolderDatabase> {
  const data = join(folder, DATA);
  let unwatch = (): void => undefined;
  const onScarce = (): void => {
    unwatch = startWatchdog(folder);
  };
  const room = openDiskRoom(folder, join(data, 'PG_VERSION'), { ...effects, onScarce });
  try {
    if (!(await exists(data))) {
      room.assertCreate();
      await create(folder, data);
    }
    room.assertStatement(0);
    const pglite = await open({ dataDir: data, ...(room.isScarce() && { startParams: SHORT_LOG }) });
    return { pglite: guarded(pglite, room), room, unwatch: () => unwatch() };
  } catch (cause) {
    unwatch();
    if (cause instanceof TransientError) throw cause;
    throw new TransientError(`The embedded warehouse in ${folder} can’t be opened: ${await reasonOf(cause, folder)}`, {
      next: 'Make sure that the disk has free space and that you own the folder, then try again. Keep the folder: it contains the paid answers.',
      cause,
    });
  }
}

/** Limits the write-ahead log. The default of up to 1 GB could fill a small disk. */
const SHORT_LOG = [...PGlite.defaultStartParams, '-c', 'max_wal_size=128MB', '-c', 'min_wal_size=32MB'];

/** The database, with a check of the disk before each statement. The end of a transaction is never refused. */
function guarded(pglite: PGlite, room: DiskRoom): PGlite {
  const guard = (target: Pick<PGlite, 'query' | 'exec'>): void => {
    const query = target.query.bind(target);
    const exec = target.exec.bind(target);
    target.query = async (text, params, options) => {
      room.assertStatement(bytesOf(params) + (options?.blob?.size ?? 0));
      return query(text, params, options);
    };
    target.exec = async (text, options) => {
      room.assertStatement(text.length);
      return exec(text, options);
    };
  };
  guard(pglite);
  const transaction = pglite.transaction.bind(pglite);
  pglite.transaction = (work) =>
    transaction((tx) => {
      guard(tx);
      return work(tx);
    });
  return pglite;
}

const bytesOf = (params: readonly unknown[] = []): number =>
  params.reduce<number>(
    (sum, it) => sum + (typeof it === 'string' ? it.length : it instanceof Uint8Array ? it.byteLength : 0),
    0,
  );

/** The reason for an error. Embedded Postgres also throws values without a message. */
async function reasonOf(cause: unknown, folder: string): Promise<string> {
  if (!(await exists(folder))) return 'the folder is gone';
  const { message, errno } = (cause ?? {}) as { readonly message?: unknown; readonly errno?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return `its files can’t be read${typeof errno === 'number' ? ` (error ${errno})` : ''}`;
}

/** Opens a database in memory, which is deleted when it is closed. `from` is a copy of the data of another database. */
export const openMemory = (from?: Blob): Promise<PGlite> =>
  open({ dataDir: 'memory://', ...(from && { loadDataDir: from }) });

type Queried = Exclude<PGliteDialectConfig['pglite'], (...given: never[]) => unknown>;

/** The Kysely dialect of the database. It accepts `copyInto` statements like the driver for servers. */
export const dialectOf = (pglite: PGlite): PGliteDialect =>
  new PGliteDialect({
    pglite: {
      ...copying(pglite),
      transaction: (work) => pglite.transaction((tx) => work({ ...copying(tx), rollback: () => tx.rollback() })),
      close: () => pglite.close(),
      get closed() {
        return pglite.closed;
      },
      get ready() {
        return pglite.ready;
      },
      get waitReady() {
        return pglite.waitReady;
      },
    },
  });

const copying = (target: Pick<PGlite, 'query'>): Pick<Queried, 'query'> => ({
  query: (text, values, options) =>
    isCopy(text)
      ? target.query(copyFromBlob(text), [], {
          ...options,
          blob: new Blob([...textParts(values?.[0] as string | Iterable<string>)]),
        })
      : target.query(text, values, options),
});

/**
 * Creates the database in a temporary folder and renames it, so that a killed process leaves no incomplete database.
 */
async function create(folder: string, data: string): Promise<void> {
  const unfinished = join(folder, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const pglite = await PGlite.create({ dataDir: unfinished });
  await pglite.close();
  await rename(unfinished, data);
}

interface OpenOptions {
  readonly dataDir: string;
  readonly loadDataDir?: Blob;
  readonly startParams?: readonly string[];
}

async function open({ startParams, ...options }: OpenOptions): Promise<PGlite> {
  const pglite = await PGlite.create({ ...options, ...(startParams && { startParams: [...startParams] }) });
  // Replaces the parsers and serializers of all types by those of the driver for servers. Those of arrays are added
  // during start-up.
  for (const oid of Object.keys(pglite.parsers)) pglite.parsers[oid] = parserFor(Number(oid));
  for (const oid of Object.keys(pglite.serializers)) pglite.serializers[oid] = serialize;
  return pglite;
}

/** A serializer returns text by its type. It is never called with null. */
const serialize = (value: unknown): string => parameterText(value) ?? '';

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
