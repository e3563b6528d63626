/** Shows the progress of work while it runs. */
import type { ReplayEffects } from '../../flow/replay/load-again.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Context } from '../context.ts';
import { logged } from './json.ts';
import { createProgress, type ProgressUpdate } from './progress.ts';

/** How often ages are updated. The styles limit how often they show them. */
const TICK_MS = 250;

/** The result of work on stored answers, such as a replay, by the clock of the warehouse. Its progress is shown. */
export const withAnswerProgress = <T>(
  context: Context,
  { clock: { now } }: Pick<Warehouse, 'clock'>,
  work: (effects: ReplayEffects) => Promise<T>,
): Promise<T> => {
  const { sleep, random, newId } = context;
  return withProgress(context, ({ onProgress: show }) => {
    const onProgress = (done: number, total: number): void => show({ sync: 'answers', done, total });
    return work({ now, sleep, random, newId, onProgress });
  });
};

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
