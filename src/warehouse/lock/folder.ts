/** Makes folders. Node's own way with `recursive` turns in circles where a folder is there and takes none, such as /proc. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The topmost folder that was made so that this one is there; undefined when it was. Throws what the system says. */
export async function makeFolders(path: string, mode = 0o777): Promise<string | undefined> {
  const folder = resolve(path);
  try {
    return (await makes(folder, mode)) ? folder : undefined;
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    const topmost = await makeFolders(parent, mode);
    const isMade = await makes(folder, mode);
    return topmost ?? (isMade ? folder : undefined);
  }
}

/** False when the folder was there. */
async function makes(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode });
    return true;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory();
    if (!isThere) throw error;
    return false;
  }
}
