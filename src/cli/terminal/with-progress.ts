/** Shows the progress of work while it runs. */
import type { Notice } from '../../ledger/summary.ts';
import type { Context } from '../context.ts';
import { logged } from './json.ts';
import { createProgress, type ProgressUpdate } from './progress.ts';

/** How often ages are updated. The styles limit how often they show them. */
const TICK_MS = 250;

export interface ProgressCallbacks {
  readonly onProgress: (reading: ProgressUpdate) => void;
  readonly onNotice: (notice: Notice) => void;
}

/** The result of the work. Its progress is shown in the style of the context. */
export async function withProgress<T>(context: Context, work: (watch: ProgressCallbacks) => Promise<T>): Promise<T> {
  const { err, log, now, progressStyle: style, redactor, status } = context;
  const reporter = createProgress({
    style,
    status,
    write: err.write,
    now,
    redact: redactor.redact,
    log: (message, facts) => log.info(message, logged('progress/1', facts)),
  });
  const timer = setInterval(reporter.tick, TICK_MS);
  try {
    return await work({
      onProgress: reporter.update,
      onNotice: ({ level, message, sync }) => log[level](message, sync === undefined ? {} : { sync }),
    });
  } finally {
    clearInterval(timer);
    reporter.end();
  }
}
