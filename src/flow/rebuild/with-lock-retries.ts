/** Waits for locks in short attempts, so that no other session queues behind our lock request for long. */
import { TransientError } from '../../errors.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

/** The longest wait for one lock. */
export const LOCK_WITHIN_MS = 1000;
const PAUSE_MS = 1000;
const ATTEMPTS = 15;

/**
 * Runs work that sets `lock_timeout` to `LOCK_WITHIN_MS`, and retries up to 15 times if a lock is not available. Throws
 * a TransientError (exit 5) after the last.
 */
export async function withLockRetries<T>(
  what: string,
  work: () => Promise<T>,
  sleep: (ms: number) => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== SQL_STATE.lockNotAvailable) throw error;
      if (attempt === ATTEMPTS)
        throw new TransientError(
          `${what} could not lock its tables: other transactions held them in ${ATTEMPTS} attempts.`,
          {
            next: 'Nothing was changed. Run the command again when the transactions that write to these tables, or change them, have ended.',
            cause: error,
          },
        );
    }
    await sleep(PAUSE_MS);
  }
}
