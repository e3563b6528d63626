/** Small disks for tests: a tmpfs each, where this user may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MIB = 2 ** 20;

export interface SmallDisk {
  readonly folder: string;
  readonly resize: (megabytes: number) => void;
  /** Takes all room but so many bytes with a file of this name. */
  readonly fill: (name: string, leftBytes: number) => Promise<void>;
  readonly makeReadOnly: () => void;
  readonly drop: () => void;
}

const mount = (...words: string[]): void => void execFileSync('mount', words, { stdio: 'ignore' });

/** A disk of this size; throws where mounts are not allowed. */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-small-'));
  try {
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder);
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  return {
    folder,
    resize: (size) => mount('-o', `remount,size=${size}m`, folder),
    fill: async (name, leftBytes) => {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(join(folder, name), Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
    },
    makeReadOnly: () => mount('-o', 'remount,ro', folder),
    drop: () => {
      // What still has a file open there keeps it until it ends.
      execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
      rmdirSync(folder);
    },
  };
}

/** True where this user may mount a tmpfs. */
export function canMount(): boolean {
  try {
    smallDisk(1).drop();
    return true;
  } catch {
    return false;
  }
}

/** So many mebibytes, in bytes. */
export const mib = (count: number): number => count * MIB;
