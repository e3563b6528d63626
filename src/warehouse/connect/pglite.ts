/** Opens Postgres inside this process, with its files in a folder that this process alone may use. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect, type PGliteDialectConfig } from 'kysely';
import { TransientError } from '../../errors.ts';
import { copyFromBlob, isCopy, textParts } from '../sql/copy.ts';
import { type DiskRoom, type DiskRoomEffects, openDiskRoom } from '../lock/disk-room.ts';
import { parameterText, parserFor } from '../sql/values.ts';
import { startWatchdog } from '../lock/watchdog.ts';

/** Under the warehouse's folder, so that the lock and what else belongs to it lie outside of Postgres' own files. */
const DATA = 'data';
const UNFINISHED = 'data.new';

/** A database in a folder, with what watches the folder's disk. */
export interface FolderDatabase {
  readonly pglite: PGlite;
  readonly room: DiskRoom;
  /** Ends what watches; the database is closed apart from it. */
  readonly unwatch: () => void;
}

/**
 * Opens the database in the folder, creating it the first time; only the holder of the folder's lock may call it. Its
 * statements throw a TransientError when the folder is gone or the disk has too little room.
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
      next: 'See that the disk has room and the folder belongs to you; then try again. What was paid for is in there: keep the folder.',
      cause,
    });
  }
}

/** Up to 1 GB of write-ahead log is kept else, which fills a small disk. */
const SHORT_LOG = [...PGlite.defaultStartParams, '-c', 'max_wal_size=128MB', '-c', 'min_wal_size=32MB'];

/** The database, each of whose statements looks at the disk first. The end of a transaction is never refused. */
function guarded(pglite: PGlite, room: DiskRoom): PGlite {
  const guard = (on: Pick<PGlite, 'query' | 'exec'>): void => {
    const query = on.query.bind(on);
    const exec = on.exec.bind(on);
    on.query = async (text, params, options) => {
      room.assertStatement(bytesOf(params) + (options?.blob?.size ?? 0));
      return query(text, params, options);
    };
    on.exec = async (text, options) => {
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

/** Postgres in this process throws values without a message too. */
async function reasonOf(cause: unknown, folder: string): Promise<string> {
  if (!(await exists(folder))) return 'the folder is gone';
  const { message, errno } = (cause ?? {}) as { readonly message?: unknown; readonly errno?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return `its files can’t be read${typeof errno === 'number' ? ` (error ${errno})` : ''}`;
}

/** Opens a database that is gone when it is closed; `from` is a copy of another's data. */
export const openMemory = (from?: Blob): Promise<PGlite> =>
  open({ dataDir: 'memory://', ...(from && { loadDataDir: from }) });

type Queried = Exclude<PGliteDialectConfig['pglite'], (...given: never[]) => unknown>;

/** For kysely: the database, which takes `copyInto` statements as the driver for servers does. */
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

const copying = (of: Pick<PGlite, 'query'>): Pick<Queried, 'query'> => ({
  query: (text, values, options) =>
    isCopy(text)
      ? of.query(copyFromBlob(text), [], {
          ...options,
          blob: new Blob([...textParts(values?.[0] as string | Iterable<string>)]),
        })
      : of.query(text, values, options),
});

/** Made aside and renamed, because a process that dies half-way would leave a folder that looks like a database. */
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
  // Every type that it has rules for gets those of the driver for servers. Arrays get theirs while it starts.
  for (const oid of Object.keys(pglite.parsers)) pglite.parsers[oid] = parserFor(Number(oid));
  for (const oid of Object.keys(pglite.serializers)) pglite.serializers[oid] = serialize;
  return pglite;
}

/** Its type says that a serializer gives text; null never comes here. */
const serialize = (value: unknown): string => parameterText(value) ?? '';

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
