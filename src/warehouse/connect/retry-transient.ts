/** Retries transient database errors, and distinguishes them from bugs. */
import type { Kysely, Transaction } from 'kysely';
import { SchemaError, SluiceError, TransientError, UsageError } from '../../errors.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

export interface RetryEffects {
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/**
 * The waits are at most 0.1, 0.2, 0.4 ... 6.4 s and at least half of that. The sum of 6 to 13 s is longer than a
 * restart of the database and than most failovers.
 */
const MOST_TRIES = 8;
const WAIT_MS = 50;

/**
 * The result of the work, which is retried after transient errors such as deadlocks and lost connections. The work gets
 * the number of failures. It must be idempotent: if the connection is lost during a commit, the outcome is unknown.
 * Rethrows other errors, and the last transient one.
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
      if (!isTransient(error) || failures >= mostTries) throw error;
      await sleep(Math.ceil((WAIT_MS * 2 ** failures * (1 + random())) / 2));
    }
  }
}

/** The result of work in a transaction of its own, which is retried as above. */
export const retryTransaction = <DB, T>(
  db: Kysely<DB>,
  work: (tx: Transaction<DB>, failures: number) => Promise<T>,
  effects: RetryEffects,
): Promise<T> => retryTransient((failures) => db.transaction().execute((tx) => work(tx, failures)), effects);

/**
 * Codes of transient errors. 08: connections. 25006: read-only until the end of a failover. 25P03 and 25P04: sessions
 * that the server ended after a timeout. 26000: a prepared statement that a pooler has on another connection. 40:
 * transactions that were rolled back. 53: resources. 55: objects that are in use or not yet in the required state. 57:
 * a server that starts, stops or cancels.
 */
const TRANSIENT = /^(?:08|25006|25P0[34]|26000|40|53|55|57)/;

/** Codes of connections that failed. The host's name was found when the warehouse was opened, so it is found again. */
const CONNECTION_CODES =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/;

/**
 * True for deadlocks, serialization failures and lock timeouts; for connections that were refused, lost or too many;
 * and for a server that starts, stops, lacks resources, or accepts no writes until the end of a failover.
 */
function isTransient(error: unknown): boolean {
  // A user's query that was stopped took too long, and a retry would take as long.
  if (error instanceof TransientError)
    return errorCode(error.cause) !== SQL_STATE.queryCanceled && isTransient(error.cause);
  const code = errorCode(error) ?? '';
  return (
    TRANSIENT.test(code) ||
    CONNECTION_CODES.test(code) ||
    isSocketGone(error) ||
    (error instanceof Error && WITHOUT_CODE.test(error.message))
  );
}

/** True if the server's Unix socket does not exist, as during a restart. A missing file of another kind is no such error. */
const isSocketGone = (error: unknown): boolean =>
  errorCode(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';

/**
 * True for data exceptions, violated constraints and limits of the database. The content causes them, so a retry does
 * not help. Nothing was written.
 */
export const isRefused = (error: unknown): error is Error =>
  error instanceof Error && /^(?:21|22|23|54)[0-9A-Z]{3}$/.test(errorCode(error) ?? '');

/**
 * The driver's messages about a connection that was lost or could not be opened in time. The last two are for a
 * connection that was already lost before.
 */
const WITHOUT_CODE =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|There was an error establishing an SSL connection|Client has encountered a connection error|Client was closed)/;

/** A refused login, a missing database, a damaged disk or index: neither over in seconds nor a bug. */
const OF_THE_SERVER = /^(?:28|3D|58|XX|F0)[0-9A-Z]{3}$/;

/** True if the connection, the server or another session caused the error, whatever the statement was. */
export const isOfDatabase = (error: unknown): boolean =>
  isTransient(error) || OF_THE_SERVER.test(errorCode(error) ?? '');

/** A schema, table, column or key that is missing. */
const OTHER_TABLES = /^(?:3F000|42P01|42703|42P10)$/;

/** The next step if the server ended the session because of that setting. */
export const RAISE_TIMEOUT = 'Raise transaction_timeout of the role with ALTER ROLE, or remove it.';

/** A database error as an error that the user can act on. Any other error is returned unchanged. */
export function toUserError(error: unknown): unknown {
  // The clean-up after an error may fail for the same reason, so the first error is the one to report.
  if (error instanceof SuppressedError) return toUserError(error.suppressed);
  if (error instanceof SluiceError || !(error instanceof Error)) return error;
  const code = errorCode(error) ?? '';
  const message = `the database could not be used: ${error.message}`;
  if (code === SQL_STATE.insufficientPrivilege) {
    const next = 'Grant the right to the user in DATABASE_URL, or use a user who has it. Stored answers are kept.';
    return new UsageError(message, { next, cause: error });
  }
  if (OTHER_TABLES.test(code)) {
    const mismatch = `the tables do not match this version of Sluice: ${error.message}`;
    const next =
      'Run sluice check to see the differences, restore the schema, then try again. Stored answers are kept.';
    return new SchemaError(mismatch, { next, cause: error });
  }
  if (!isOfDatabase(error)) return error;
  const next = `${code === SQL_STATE.transactionTimeout ? RAISE_TIMEOUT : 'Try again when the database works.'} Stored answers are kept.`;
  return new TransientError(message, { next, cause: error });
}
