/** Waits for the next status of `sluice status --watch`. */
import { SluiceError } from '../../../errors.ts';
import type { Context } from '../../context.ts';
import { isRetryable } from '../../exit-codes.ts';

/** The interval of `--watch`: short enough for people, and long enough to keep the load on the database low. */
const WATCH_EVERY_MS = 2000;

/** The status after a wait, and after any restart of the database; undefined once the watch is stopped or not read. */
export async function nextStatus<T>(read: () => Promise<T>, context: Context): Promise<T | undefined> {
  let lastWarning = '';
  while (context.out.isOpen?.() !== false && (await waited(context))) {
    try {
      return await read();
    } catch (error) {
      const { toUserError } = await import('../../../warehouse/connect/retry-transient.ts');
      const failure = toUserError(error);
      if (!(failure instanceof SluiceError && isRetryable(failure.exitCode))) throw error;
      if (failure.message !== lastWarning) context.log.warn(failure.message);
      lastWarning = failure.message;
    }
  }
  return undefined;
}

/** Waits until the next status is due; false if the signal ended the wait. */
const waited = ({ sleep, signal }: Context): Promise<boolean> =>
  sleep(WATCH_EVERY_MS, signal).then(
    () => true,
    () => false,
  );
