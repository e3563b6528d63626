/** Writes files so that a folder gets all new ones, or keeps the earlier ones unchanged. */
import { mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TransientError, UsageError } from '../errors.ts';
import { isDiskFull, whyUnwritable } from '../text/unwritable.ts';
import { makeFolders } from '../warehouse/lock/folder.ts';

/** Prefix of the hidden folder for unfinished files. It remains only if the process is killed. */
const UNFINISHED = '.sluice-export-';

/** Writes the pieces to a file of this name, and returns its size in bytes. */
export type WriteFile = (name: string, pieces: AsyncIterable<string | Uint8Array>) => Promise<number>;

/**
 * The result of the work, whose files replace those of the same names in the folder once the work has ended. After an error,
 * none of them is there. Missing folders are created. Throws a UsageError if the folder cannot be written, and a
 * TransientError on a full disk.
 */
export async function replaceFiles<T>(folder: string, work: (write: WriteFile) => Promise<T>): Promise<T> {
  const unfinished = await orUnwritable(folder, async () => {
    await makeFolders(folder);
    return mkdtemp(join(folder, UNFINISHED));
  });
  try {
    const result = await work((name, pieces) => writePieces(folder, join(unfinished, name), pieces));
    const names = await readdir(unfinished);
    await Promise.all(names.map((name) => refuseFolder(join(folder, name))));
    for (const name of names) await orUnwritable(folder, () => rename(join(unfinished, name), join(folder, name)));
    return result;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function writePieces(folder: string, path: string, pieces: AsyncIterable<string | Uint8Array>): Promise<number> {
  const file = await orUnwritable(folder, () => open(path, 'wx'));
  try {
    for await (const piece of pieces) await orUnwritable(folder, () => file.appendFile(piece));
    // A loss of power must not leave a file with its name and without its contents.
    await orUnwritable(folder, () => file.sync());
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Throws if the path is a folder, which a file cannot replace. */
async function refuseFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw unwritable(path, { code: 'EISDIR' });
}

async function orUnwritable<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

function unwritable(path: string, cause: unknown): TransientError | UsageError {
  // Only the folder itself can exist as something else; a file above it has another code.
  const why = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? 'it is a file (EEXIST)' : whyUnwritable(cause);
  const message = `export: ${path} can’t be written: ${why}`;
  if (isDiskFull(cause))
    return new TransientError(message, {
      next: 'Earlier files are unchanged. Free space on that disk, and run the command again.',
      cause,
    });
  return new UsageError(message, {
    next: 'Earlier files are unchanged. Set another folder with --output, or make this one writable.',
    cause,
  });
}
