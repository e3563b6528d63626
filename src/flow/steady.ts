/** Tries again what the database could not do for the moment, and tells such trouble from a fault of this program. */
import { SluiceError, TransientError } from '../errors.ts';
import { errorCode } from '../warehouse/trouble.ts';

export interface Steady {
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/** With waits of up to 0.1, 0.2, 0.4 ... 6.4 s: outlasts a restart of the database. */
const MOST_TRIES = 8;
const WAIT_MS = 50;

/**
 * Does the work, again when another transaction or a lost connection came between; the work is told how often it failed
 * so, and must bear being done twice. Other errors pass through.
 */
export async function steadily<T>(work: (failures: number) => Promise<T>, { sleep, random }: Steady): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await work(failures);
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures >= MOST_TRIES) throw error;
      await sleep(Math.ceil(WAIT_MS * 2 ** failures * random()));
    }
  }
}

/**
 * Deadlocks, serialization failures and locks that took too long; connections that were refused, lost or too many; a
 * server that starts, stops or has run out of something.
 */
function isPassing(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return (
    /^(?:40001|40P01|55P03|08|53|57)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EHOSTUNREACH'].includes(code) ||
    (error instanceof Error && WITHOUT_CODE.test(error.message))
  );
}

/** The driver's words for a connection that is gone; the last when the rollback finds it so. */
const WITHOUT_CODE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** The error as one that its reader can act on, when it is trouble of the database that may pass; else itself. */
export function databaseTrouble(error: unknown): unknown {
  if (error instanceof SluiceError || !isPassing(error) || !(error instanceof Error)) return error;
  return new TransientError(`the database could not be used: ${error.message}`, {
    next: 'Run the sync again when the database is well; what was answered is kept.',
    cause: error,
  });
}
