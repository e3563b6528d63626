/** What a test run creates once, by name: the first caller creates it, and callers in other processes wait for it. */
import { mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inject } from 'vitest';

/** Does the work once a run, under a lock; `isThere` says whether it was done. */
export async function once(name: string, isThere: () => Promise<boolean>, create: () => Promise<void>): Promise<void> {
  const lock = join(inject('templates').folder, `${name}.lock`);
  while (!(await isThere())) {
    const isMine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (!isMine) {
      await wait(100);
      continue;
    }
    try {
      if (!(await isThere())) await create();
    } finally {
      await rmdir(lock);
    }
  }
}

/** Returns the path of a file or folder of this run, which `create` writes at the path that it gets. */
export async function onceInRun(name: string, create: (path: string) => Promise<void>): Promise<string> {
  const kept = join(inject('templates').folder, name);
  const isThere = (): Promise<boolean> =>
    stat(kept).then(
      () => true,
      () => false,
    );
  await once(name, isThere, async () => {
    const unfinished = `${kept}.unfinished`;
    await create(unfinished);
    await rename(unfinished, kept);
  });
  return kept;
}
