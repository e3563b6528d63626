/** The identity of a spool folder: a marker file in it. A path or a host name alone does not identify a folder. */
import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from '../../warehouse/lock/write-durably.ts';

/** The name of the marker file. */
export const MARKER = 'spool.json';

const CONTENT = z.object({ id: z.guid() });

/** Returns the id of the spool in a folder; undefined if the folder has no readable marker. */
export async function spoolIdIn(folder: string): Promise<string | undefined> {
  try {
    return CONTENT.parse(JSON.parse(await readFile(join(folder, MARKER), 'utf8'))).id;
  } catch {
    return undefined;
  }
}

/** Returns the id of the spool in an existing folder; a folder without a marker gets one with the new id. */
export async function markSpool(folder: string, newId: string): Promise<string> {
  const known = await spoolIdIn(folder);
  if (known !== undefined) return known;
  const draft = join(folder, `${MARKER}.${newId}`);
  await writeDurably(draft, [`${JSON.stringify({ format: 1, id: newId })}\n`], 'wx');
  try {
    // If two processes mark a folder at the same time, exactly one must win.
    await link(draft, join(folder, MARKER)).catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await spoolIdIn(folder)) !== undefined) return;
      await rename(draft, join(folder, MARKER));
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await spoolIdIn(folder)) ?? newId;
}
