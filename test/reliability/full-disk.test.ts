/** The short form of a full disk, if this user may mount one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { brokenBy, fullDisk } from './scenarios/full-disk.ts';

const built = await builtProgram();
const PATIENT = 300_000;

if (canMount()) {
  it.each([
    ['too small for a warehouse', { size: 56 }, 0, 0],
    ['that another program fills under a sync', { size: 300, filled: { after: 10, left: 4 } }, 10, 1],
  ])(
    'a disk %s: exit 5, and with room the next run loads everything and buys nothing twice',
    async (_, disk, bought, spooled) => {
      const end = await fullDisk(disk);
      expect(brokenBy(end)).toEqual([]);
      expect(end.codes).toEqual([5, 0]);
      expect(end.boughtFirst).toBeGreaterThanOrEqual(bought);
      expect(end.spooled).toBeGreaterThanOrEqual(spooled);
    },
    PATIENT,
  );

  it(
    'a database that is stuck in a write on a full disk is ended by the watchdog with exit 5',
    async () => {
      const disk = smallDisk(52);
      onTestFinished(disk.drop);
      const child = spawn(process.execPath, [built.pathOf('test/reliability/stuck-database.ts'), disk.folder], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: built.env,
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [[code], wrote] = await Promise.all([once(child, 'exit') as Promise<[number | null]>, text(child.stderr)]);
      expect(wrote).toContain('does not return from a write: its disk is full');
      expect(code).toBe(5);
    },
    PATIENT,
  );
}
