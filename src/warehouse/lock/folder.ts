/**
 * Creates folders. Node's own `recursive` option never returns below a folder that allows no subfolders, such as /proc.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates the folder with its parents and returns the topmost created one; undefined if it exists. Throws system
 * errors.
 */
export async function makeFolders(path: string, mode = 0o777): Promise<string | undefined> {
  const folder = resolve(path);
  try {
    return (await createFolder(folder, mode)) ? folder : undefined;
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    const topmost = await makeFolders(parent, mode);
    const isCreated = await createFolder(folder, mode);
    return topmost ?? (isCreated ? folder : undefined);
  }
}

/** Creates one folder. False if it exists. */
async function createFolder(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode });
    return true;
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory();
    if (!exists) throw error;
    return false;
  }
}
