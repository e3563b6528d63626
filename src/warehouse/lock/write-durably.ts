/** Writes files that a loss of power does not lose. */
import { open } from 'node:fs/promises';

/** Writes a file for its owner alone and flushes it to the disk. With the flag `wx`, the file must not exist. */
export async function writeDurably(
  path: string,
  parts: readonly (string | Uint8Array)[],
  flag: 'w' | 'wx',
): Promise<void> {
  const file = await open(path, flag, 0o600);
  try {
    for (const part of parts) await file.writeFile(part);
    await file.sync();
  } finally {
    await file.close();
  }
}
