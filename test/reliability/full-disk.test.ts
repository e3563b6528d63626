/** The short form of a full disk, if this user may mount one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { sluiceHere } from './processes.ts';
import { brokenBy, fullDisk } from './scenarios/full-disk.ts';

const built = await builtProgram();
const PATIENT = 300_000;

if (canMount()) {
  it(
    'a disk too small for a warehouse, and then filled by another program under a sync: exit 5 twice, and with room the next run loads everything and buys nothing twice',
    async () => {
      const end = await fullDisk({ size: 300, before: 56, filled: { after: 10, left: 4 } }, 16, sluiceHere);
      expect(brokenBy(end)).toEqual([]);
      expect(end.codes).toEqual([5, 5, 0]);
      expect(end.boughtFirst).toBeGreaterThanOrEqual(10);
      expect(end.spooled).toBeGreaterThanOrEqual(1);
    },
    PATIENT,
  );

  it(
    'a database whose write fails on a full disk ends with the reason and exit 5',
    async () => {
      const disk = smallDisk(52);
      onTestFinished(disk.drop);
      const child = spawn(process.execPath, [built.pathOf('test/reliability/failed-write.ts'), disk.folder], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: built.env,
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [[code], wrote] = await Promise.all([once(child, 'exit') as Promise<[number | null]>, text(child.stderr)]);
      expect(wrote).toContain('No space left on device');
      expect(code).toBe(5);
    },
    PATIENT,
  );
}
