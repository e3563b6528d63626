/** The files of answers in a spool folder. */
import { readdir } from 'node:fs/promises';

/** Names of the files in a spool, without its marker and its reserve; none when there is no folder. */
export const spoolFiles = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch((): string[] => [])).filter((name) => !['spool.json', 'reserve'].includes(name));
