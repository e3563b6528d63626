/** Writes the output files of commands. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TransientError, UsageError } from '../../errors.ts';
import { isDiskFull, whyUnwritable } from '../../text/unwritable.ts';
import { makeFolders } from '../../warehouse/lock/folder.ts';
import type { Context } from '../context.ts';

export interface OutputFile {
  readonly path: string;
  readonly content: string;
  /** False refuses to overwrite an existing file (default: true). */
  readonly overwrites?: boolean;
  /** True creates missing folders of the path (default: false). */
  readonly makesFolders?: boolean;
}

/**
 * Writes a file. Throws a UsageError with the path, and with the flag that sets another path as the next step; a
 * TransientError on a full disk.
 */
export async function writeOutputFile(command: string, flag: string, file: OutputFile): Promise<void> {
  const { path, content, overwrites = true, makesFolders = false } = file;
  try {
    if (makesFolders) await makeFolders(dirname(path));
    await (overwrites ? replaceFile(path, content) : createFile(path, content));
  } catch (cause) {
    const message = `${command}: ${path} can’t be written: ${whyUnwritable(cause)}`;
    if (isDiskFull(cause))
      throw new TransientError(message, { next: 'Free space on that disk, and run the command again.', cause });
    throw new UsageError(message, {
      next: `Set another path with ${flag}, or create the folder of this one and make it writable.`,
      cause,
    });
  }
}

/** Codes of a folder that takes no other file of this owner, or of a file that is a mount of its own, although the file can be written. */
const REFUSES_ANOTHER_FILE: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENAMETOOLONG'];

/** The path has the earlier content or the new one, never a part: also on a full disk, and if the process is killed. */
async function replaceFile(path: string, content: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  // A pipe or a device is written as it is.
  if (found?.isFile() === false) return writeFile(target, content);
  // A file that must not be written is not replaced either.
  if (found) await access(target, constants.W_OK);
  const unfinished = `${target}.${randomUUID().slice(0, 8)}.partial`;
  try {
    await createFile(unfinished, content, found);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    if (!found || !REFUSES_ANOTHER_FILE.includes((error as NodeJS.ErrnoException).code)) throw error;
    await writeFile(target, content);
  }
}

/** Writes a file that must not exist; after an error, such as a full disk, it does not exist either. */
async function createFile(path: string, content: string, like?: Stats): Promise<void> {
  const file = await open(path, 'wx');
  try {
    if (like) {
      // The owner first, because a change of it may remove permissions.
      await file.chown(like.uid, like.gid);
      await file.chmod(like.mode);
    }
    await file.writeFile(content);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Writes a result to the file that `--output` names, or to standard output if it names none. */
export async function writeOutput(context: Context, path: string | undefined, content: string): Promise<void> {
  context.status.clear();
  if (path === undefined) return context.out.write(content);
  await writeOutputFile(context.command, '--output', { path, content });
  context.log.info(`wrote ${path}`);
}
