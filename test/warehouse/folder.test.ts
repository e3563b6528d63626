/** Folders are created with their parents, and a place that accepts none is reported immediately. */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolders } from '../../src/warehouse/lock/folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-folder-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a folder', () => {
  it('is created with its parents, and the topmost of these is returned', async () => {
    expect(await makeFolders(join(folder, 'a/b/c'), 0o700)).toBe(join(folder, 'a'));
    expect((await stat(join(folder, 'a/b/c'))).mode & 0o777).toBe(0o700);
    expect(await makeFolders(join(folder, 'a/b/d'))).toBe(join(folder, 'a/b/d'));
  });

  it('that is there is left as it is', async () => {
    await mkdir(join(folder, 'there'), { mode: 0o711 });
    expect(await makeFolders(join(folder, 'there'), 0o700)).toBeUndefined();
    expect((await stat(join(folder, 'there'))).mode & 0o777).toBe(0o711);
  });

  it('is made by one of many at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => makeFolders(join(folder, 'x/y/z'))));
    expect((await stat(join(folder, 'x/y/z'))).isDirectory()).toBe(true);
    expect(made.filter((it) => it === join(folder, 'x'))).toHaveLength(1);
  });

  it('below a file, or where the system makes none, is refused', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(makeFolders(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolders(join(folder, 'file/in'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    // Node's own recursive way never comes back from here.
    await expect(makeFolders('/proc/none/in')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
