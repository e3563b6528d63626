/** Where compiled code is kept, and where it is not. */
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, temporaryFolder } from './program-run.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** Runs the shortest command in that environment; it must say nothing of the cache. */
async function start(env: Readonly<Record<string, string>>): Promise<void> {
  const { code, err } = await run(['--version'], { cwd: folder.path, env: { NODE_COMPILE_CACHE: '', ...env } });
  if (code !== 0 || err !== '') throw new Error(`ended with ${code}: ${err}`);
}
const filesIn = (path: string): Promise<string[]> => readdir(path, { recursive: true });

describe('compiled code', () => {
  it('is kept in the user’s folder for caches', async () => {
    const home = join(folder.path, 'home');
    await mkdir(home);
    await start({ HOME: home });
    const kept = await filesIn(join(home, '.cache', 'sluice'));
    expect(kept.length).toBeGreaterThan(3);
    await start({ HOME: home });
    expect((await filesIn(join(home, '.cache', 'sluice'))).toSorted()).toEqual(kept.toSorted());
  });

  it('is kept where XDG_CACHE_HOME says, which must be absolute', async () => {
    const named = join(folder.path, 'named');
    await start({ XDG_CACHE_HOME: named });
    expect((await filesIn(join(named, 'sluice'))).length).toBeGreaterThan(3);
    await start({ XDG_CACHE_HOME: 'relative' });
    expect(await filesIn(folder.path)).not.toContain('relative');
  });

  it('is not kept where other users could replace it', async () => {
    const open = join(folder.path, 'open');
    await mkdir(join(open, 'sluice'), { recursive: true });
    await chmod(join(open, 'sluice'), 0o777);
    await start({ XDG_CACHE_HOME: open });
    expect(await filesIn(join(open, 'sluice'))).toEqual([]);
  });

  it.each(['/proc', '/dev/null', ''])('is done without where no folder can be made: %j', async (home) => {
    await expect(start({ HOME: home, XDG_CACHE_HOME: home })).resolves.toBeUndefined();
  });
});
