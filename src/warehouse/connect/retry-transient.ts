/** Tries again what the database could not do for the moment, and tells such trouble from a fault of this program. */
import { SchemaError, SluiceError, TransientError, UsageError } from '../../errors.ts';
import { errorCode } from '../sql/errors.ts';

export interface RetryEffects {
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/**
 * With waits of up to 0.1, 0.2, 0.4 ... 6.4 s, and of half that at the least: 6 to 13 s, which outlasts a restart of the
 * database, and most failovers.
 */
const MOST_TRIES = 8;
const WAIT_MS = 50;

/**
 * Does the work, again when another transaction or a lost connection came between; the work is told how often it failed
 * so, and must bear being done twice: a connection that is lost during a commit leaves it open whether it was done.
 * Other errors pass through.
 */
export async function retryTransient<T>(
  work: (failures: number) => Promise<T>,
  { sleep, random }: RetryEffects,
  mostTries: number = MOST_TRIES,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await work(failures);
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures >= mostTries) throw error;
      await sleep(Math.ceil((WAIT_MS * 2 ** failures * (1 + random())) / 2));
    }
  }
}

/**
 * 08 connections, 25006 read-only until a failover is over, 25P03 and 25P04 sessions that the server ended for their
 * time, 26000 a prepared statement that a pooler has on another connection, 40 transactions rolled back, 53 resources, 55
 * objects that are in use or not yet in the state that a statement needs, 57 a server that starts, stops or cancels.
 */
const PASSING = /^(?:08|25006|25P0[34]|26000|40|53|55|57)/;

/**
 * Deadlocks, serialization failures and locks that took too long; connections that were refused, lost or too many; a
 * server that starts, stops, has run out of something, or takes no writes until a failover is over.
 */
function isPassing(error: unknown): boolean {
  // A query of somebody's that was stopped took too long, and would again.
  if (error instanceof TransientError) return errorCode(error.cause) !== CANCELED && isPassing(error.cause);
  const code = errorCode(error) ?? '';
  return (
    PASSING.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EHOSTUNREACH'].includes(code) ||
    (error instanceof Error && WITHOUT_CODE.test(error.message))
  );
}

/**
 * True of data exceptions, broken constraints and limits of the database: they are of the content, so no retry mends them,
 * and nothing was done.
 */
export const isRefused = (error: unknown): error is Error =>
  error instanceof Error && /^(?:21|22|23|54)[0-9A-Z]{3}$/.test(errorCode(error) ?? '');

/** The driver's words for a connection that is gone; the last two for one that was found so before. */
const WITHOUT_CODE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

const CANCELED = '57014';

/** A login refused, a database gone, a disk or an index that is broken: not over in seconds, nor a fault of this program. */
const OF_THE_SERVER = /^(?:28|3D|58|XX|F0)[0-9A-Z]{3}$/;
const NO_RIGHT = '42501';
/** A schema, table, column or key that is missing. */
const OTHER_TABLES = /^(?:3F000|42P01|42703|42P10)$/;

/** The error as one that its reader can act on, when it is trouble of the database; else itself. */
export function toUserError(error: unknown): unknown {
  if (error instanceof SluiceError || !(error instanceof Error)) return error;
  const code = errorCode(error) ?? '';
  const message = `the database could not be used: ${error.message}`;
  if (code === NO_RIGHT) {
    const next = 'Grant the right to the user in DATABASE_URL, or name one who has it; what was answered is kept.';
    return new UsageError(message, { next, cause: error });
  }
  if (OTHER_TABLES.test(code)) {
    const told = `the tables are not those of this version of Sluice: ${error.message}`;
    const next = 'sluice check says what differs; put it back, then run it again. What was answered is kept.';
    return new SchemaError(told, { next, cause: error });
  }
  if (!isPassing(error) && !OF_THE_SERVER.test(code)) return error;
  const next = 'Run it again when the database is well; what was answered is kept.';
  return new TransientError(message, { next, cause: error });
}
