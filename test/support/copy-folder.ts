/** Copies folders of many files. */
import { chmodSync, constants, cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies a folder to one that does not exist yet. The synchronous copy of Node takes a seventh of the processor time of
 * the other: 0.05 s instead of 0.38 s for an embedded warehouse.
 */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
  copyModes(from, to);
}

/** Gives folders the modes of the others, which the copy does not keep. */
function copyModes(from: string, to: string): void {
  chmodSync(to, statSync(from).mode);
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isDirectory()) copyModes(join(from, entry.name), join(to, entry.name));
}
