/** The files of `--output`: complete, or as they were before, at the place that the path names. */
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { writeOutputFile } from '../../src/cli/terminal/output-file.ts';
import { UsageError } from '../../src/errors.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';

const LONG = 'x'.repeat(100_000);
const write = (path: string, content: string, overwrites = true): Promise<void> =>
  writeOutputFile('report', '--output', { path, content, overwrites });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-output-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

describe('an output file', () => {
  it('replaces an earlier one with its permissions, and leaves nothing beside it', async () => {
    const path = join(folder, 'report.html');
    await writeFile(path, 'earlier');
    await chmod(path, 0o662);
    await write(path, 'new');
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['new', 0o662]);
    expect(await readdir(folder)).toEqual(['report.html']);
  });

  it('of another owner stays theirs', async () => {
    const path = join(folder, 'report.html');
    await writeFile(path, 'earlier');
    // Only root may give files away.
    const owner = process.getuid?.() === 0 ? 65_534 : (await stat(path)).uid;
    await chown(path, owner, -1);
    await write(path, 'new');
    expect([await readFile(path, 'utf8'), (await stat(path)).uid]).toEqual(['new', owner]);
  });

  it('never has a part of its content for a reader', async () => {
    const path = join(folder, 'report.html');
    await writeFile(path, 'earlier');
    const { ino } = await stat(path);
    await write(path, 'new');
    expect((await stat(path)).ino).not.toBe(ino);
  });

  it('is written through a link, also to a device', async () => {
    const [target, link] = [join(folder, 'target'), join(folder, 'link')];
    await writeFile(target, 'earlier');
    await symlink(target, link);
    await write(link, 'new');
    expect(await readFile(target, 'utf8')).toBe('new');
    await write('/dev/null', 'new');
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('for which the disk has no room asks for room, not for another folder', async () => {
    await expect(write('/dev/full', 'new')).rejects.toMatchObject({
      exitCode: 5,
      message: 'report: /dev/full can’t be written: the disk is full (ENOSPC)',
      next: 'Free space on that disk, and run the command again.',
    });
  });

  it('that must not exist leaves an existing one as it is', async () => {
    const path = join(folder, 'sluice.yaml');
    await writeFile(path, 'earlier');
    await expect(write(path, 'new', false)).rejects.toThrow(UsageError);
    expect(await readFile(path, 'utf8')).toBe('earlier');
  });

  if (canMount())
    it('on a full disk leaves the earlier one unchanged, and nothing else', async () => {
      const disk = smallDisk(1);
      onTestFinished(disk.drop);
      const path = join(disk.folder, 'report.html');
      await writeFile(path, 'earlier');
      await disk.fill('other', 8192);
      const full = /can’t be written: the disk is full \(ENOSPC\)/;
      await expect(write(path, LONG)).rejects.toThrow(full);
      await expect(write(join(disk.folder, 'sluice.yaml'), LONG, false)).rejects.toThrow(full);
      expect(await readFile(path, 'utf8')).toBe('earlier');
      expect((await readdir(disk.folder)).toSorted()).toEqual(['other', 'report.html']);
    });
});
