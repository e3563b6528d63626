/** Shows how work comes along while it is under way. */
import type { Notice } from '../../ledger/summary.ts';
import type { Context } from '../context.ts';
import { createProgress, type ProgressUpdate } from './progress.ts';

/** How often ages are brought up to date; what is shown has limits of its own. */
const TICK_MS = 250;

export interface ProgressCallbacks {
  readonly onProgress: (reading: ProgressUpdate) => void;
  readonly onNotice: (notice: Notice) => void;
}

/** What the work gives, its progress shown as the context wants it. */
export async function withProgress<T>(context: Context, work: (watch: ProgressCallbacks) => Promise<T>): Promise<T> {
  const { err, log, now, progressStyle: style, redactor, status } = context;
  const teller = createProgress({ style, status, write: err.write, now, redact: redactor.redact, log: log.info });
  const timer = setInterval(teller.tick, TICK_MS);
  try {
    return await work({
      onProgress: teller.update,
      onNotice: ({ level, message, sync }) => log[level](message, sync === undefined ? {} : { sync }),
    });
  } finally {
    clearInterval(timer);
    teller.end();
  }
}
