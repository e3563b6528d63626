/** Writes the output files of commands. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
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

/** The error codes of the system in words; other errors are shown by their code alone. */
const BECAUSE: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Writes a file. Throws a UsageError with the path, and with the flag that sets another path as the next step. */
export async function writeOutputFile(command: string, flag: string, file: OutputFile): Promise<void> {
  const { path, content, overwrites = true, makesFolders = false } = file;
  try {
    if (makesFolders) await makeFolders(dirname(path));
    await writeFile(path, content, { flag: overwrites ? 'w' : 'wx' });
  } catch (cause) {
    const { code = '', syscall } = cause as NodeJS.ErrnoException;
    // For `mkdir`, this code means that a file has the name of the folder.
    const words = code === 'EEXIST' && syscall === 'mkdir' ? BECAUSE['ENOTDIR'] : BECAUSE[code];
    const because = words === undefined ? code : `${words} (${code})`;
    throw new UsageError(`${command}: ${path} can’t be written: ${because}`, {
      next: `Set another path with ${flag}, or make this one writable.`,
      cause,
    });
  }
}

/** Writes a result to the file that `--output` names, or to standard output if it names none. */
export async function writeOutput(context: Context, path: string | undefined, content: string): Promise<void> {
  context.status.clear();
  if (path === undefined) return context.out.write(content);
  await writeOutputFile(context.command, '--output', { path, content });
  context.log.info(`wrote ${path}`);
}
