/** Opens embedded databases: in a folder that only this process may use, or in memory. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TransientError } from '../../errors.ts';
import { type DiskRoom, type DiskRoomEffects, openDiskRoom } from './disk-room.ts';
import { startWatchdog } from './watchdog.ts';
import { type EmbeddedDatabase, openThread, type ThreadError } from './thread.ts';

/** A subfolder of the warehouse's folder, so that the lock and other files are outside of Postgres' own files. */
const DATA = 'data';
const UNFINISHED = 'data.new';

/** A database in a folder, with a monitor of the folder's disk. */
export interface FolderDatabase {
  readonly database: EmbeddedDatabase;
  readonly room: DiskRoom;
}

/**
 * Opens the database in the folder, and creates it the first time. The caller must hold the folder's lock. Statements
 * throw a TransientError if the folder is gone, the disk has too little space, or the database ended.
 */
export async function openFolder(folder: string, effects: Omit<DiskRoomEffects, 'onScarce'>): Promise<FolderDatabase> {
  const data = join(folder, DATA);
  let database: EmbeddedDatabase | undefined;
  let isScarce = false;
  const watch = (): void => {
    isScarce = true;
    if (database) startWatchdog(folder, database);
  };
  const room = openDiskRoom(folder, join(data, 'PG_VERSION'), { ...effects, onScarce: watch });
  try {
    const isNew = !(await exists(data));
    if (isNew) room.assertCreate();
    else room.assertStatement(0);
    database = await openThread(
      { dataDir: data, ...(isNew && { createIn: join(folder, UNFINISHED) }), isLogShort: room.isScarce() },
      { failure: (reason) => ended(folder, reason) },
    );
    if (isScarce) startWatchdog(folder, database);
    return { database, room };
  } catch (cause) {
    if (cause instanceof TransientError) throw cause;
    throw new TransientError(`The embedded warehouse in ${folder} can’t be opened: ${await reasonOf(cause, folder)}`, {
      next: 'Make sure that the disk has free space and that you own the folder, then try again. Keep the folder: it contains the paid answers.',
      cause,
    });
  }
}

/** Opens a database in memory, which is deleted when it is closed. */
export const openMemory = (): Promise<EmbeddedDatabase> =>
  openThread({ dataDir: 'memory://' }, { failure: (reason) => ended('memory', reason) });

const ended = (place: string, { message }: ThreadError): TransientError =>
  new TransientError(`The embedded database in ${place} ended: ${message === '' ? 'it gave no reason' : message}`, {
    next: 'Run the same command again. What was stored is kept. If it happens again, free memory and disk space, or set DATABASE_URL to a Postgres server.',
  });

/** The reason for an error. Embedded Postgres also throws values without a message. */
async function reasonOf(cause: unknown, folder: string): Promise<string> {
  if (!(await exists(folder))) return 'the folder is gone';
  const { message, errno } = (cause ?? {}) as { readonly message?: unknown; readonly errno?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return `its files can’t be read${typeof errno === 'number' ? ` (error ${errno})` : ''}`;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
