/** Writes the files that a command was told to write. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
import { makeFolders } from '../../warehouse/lock/folder.ts';

export interface OutputFile {
  readonly path: string;
  readonly content: string;
  /** False refuses to write over a file that is there; true unless given. */
  readonly overwrites?: boolean;
  /** Makes the folders that the path names. */
  readonly makesFolders?: boolean;
}

/** What the system says, in words; anything else is told by its code alone. */
const BECAUSE: Readonly<Record<string, string>> = {
  ENOENT: 'its folder is not there',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it is there already',
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Writes a file. Throws a UsageError that names the path and, as the way out, the flag with which the command was given it. */
export async function writeOutputFile(command: string, flag: string, file: OutputFile): Promise<void> {
  const { path, content, overwrites = true, makesFolders = false } = file;
  try {
    if (makesFolders) await makeFolders(dirname(path));
    await writeFile(path, content, { flag: overwrites ? 'w' : 'wx' });
  } catch (cause) {
    const { code = '', syscall } = cause as NodeJS.ErrnoException;
    // A folder can't be made where a file is.
    const said = code === 'EEXIST' && syscall === 'mkdir' ? BECAUSE['ENOTDIR'] : BECAUSE[code];
    const because = said === undefined ? code : `${said} (${code})`;
    throw new UsageError(`${command}: ${path} can’t be written: ${because}`, {
      next: `Name another place with ${flag}, or mend this one.`,
      cause,
    });
  }
}
