/** Writes the output files of commands. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
import { whyUnwritable } from '../../text/unwritable.ts';
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

/** Writes a file. Throws a UsageError with the path, and with the flag that sets another path as the next step. */
export async function writeOutputFile(command: string, flag: string, file: OutputFile): Promise<void> {
  const { path, content, overwrites = true, makesFolders = false } = file;
  try {
    if (makesFolders) await makeFolders(dirname(path));
    await writeFile(path, content, { flag: overwrites ? 'w' : 'wx' });
  } catch (cause) {
    throw new UsageError(`${command}: ${path} can’t be written: ${whyUnwritable(cause)}`, {
      next: `Set another path with ${flag}, or create the folder of this one and make it writable.`,
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
