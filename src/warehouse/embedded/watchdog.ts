/** Ends an embedded database that is stuck in a write on a full disk or in a folder that is gone. */
import { statfsSync } from 'node:fs';
import { TransientError } from '../../errors.ts';
import type { EmbeddedDatabase } from './thread.ts';

/** How long a statement must run to count as stuck. A long statement must not count. */
const STUCK_AFTER_MS = 10_000;
/**
 * With less free space the disk counts as full. If a log segment (16 MiB) does not fit, up to 22 MB were measured as
 * free.
 */
const FULL_BELOW_BYTES = 40 * 2 ** 20;
const CHECK_EVERY_MS = 500;

/** Starts to watch the database of a folder. It does not keep the process alive. */
export function startWatchdog(
  folder: string,
  database: Pick<EmbeddedDatabase, 'busyMs' | 'fail'>,
  stuckAfterMs = STUCK_AFTER_MS,
): void {
  const watching = setInterval(() => {
    if ((database.busyMs() ?? 0) < stuckAfterMs) return;
    const because = causeIn(folder);
    if (because === undefined) return;
    clearInterval(watching);
    database.fail(
      new TransientError(`The embedded warehouse in ${folder} does not return from a write: ${because}`, {
        next: 'Free space on that disk, then try again. Requests in flight are listed as in doubt.',
      }),
    );
  }, CHECK_EVERY_MS).unref();
}

function causeIn(folder: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < FULL_BELOW_BYTES ? 'its disk is full' : undefined;
  } catch {
    return 'the folder is gone';
  }
}
