/** Turns errors of a user's statement into errors that the user can act on. */
import { SluiceError, TransientError, UsageError } from '../../errors.ts';
import { isOfDatabase, RAISE_TIMEOUT } from './retry-transient.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

const GRANT_NEXT = 'Connect as a role that may read it; sluice grants prints the statements that create one.';
const QUERY_NEXT = 'Correct the query; sluice tables lists the tables, and their columns with a name.';

/** The statement has a parameter. The code is that of a broken protocol, which may pass. */
const UNBOUND = /bind message supplies/;

/** A code of the server. Other codes are of the connection. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * The error of a user's statement, for the user: a UsageError if the database refuses the statement, and a TransientError if
 * it was stopped or could not run. A bug stays as it is.
 */
export function toQueryError(error: unknown, { timeoutMs }: { readonly timeoutMs?: number }): unknown {
  if (error instanceof SluiceError) return error;
  const code = errorCode(error);
  const { message, hint } = error as { message: string; hint?: string };
  const isStatementFault = UNBOUND.test(message) || (SQLSTATE.test(code ?? '') && !isOfDatabase(error));
  if (code === undefined && !isOfDatabase(error)) return error;
  if (code === SQL_STATE.queryCanceled) {
    const how = timeoutMs === undefined ? `: ${message}` : ` after ${timeoutMs / 1000} s`;
    return new TransientError(`The query was stopped${how}.`, {
      next: 'Narrow the query, or allow more time.',
      cause: error,
    });
  }
  if (code === SQL_STATE.readOnlyTransaction) {
    return new UsageError(`The query would change data: ${message}.`, {
      next: 'Only read-only queries are allowed here; use another client to write.',
      cause: error,
    });
  }
  if (isStatementFault) {
    const isForbidden = code === SQL_STATE.insufficientPrivilege;
    return new UsageError(inPlainWords(`The database refuses the query: ${message}.`), {
      next: isForbidden ? GRANT_NEXT : (hint ?? QUERY_NEXT),
      cause: error,
    });
  }
  const detail = code === undefined ? message : `${message} (${code})`;
  return new TransientError(`The database could not run the query: ${detail}.`, {
    next: code === SQL_STATE.transactionTimeout ? RAISE_TIMEOUT : 'Try again.',
    cause: error,
  });
}

/** Rewrites messages about the cursor and the protocol, which the user did not write. */
function inPlainWords(message: string): string {
  if (message.includes('multiple commands')) return 'The query contains several statements; allowed is one.';
  if (UNBOUND.test(message)) return 'The query has a parameter such as $1, to which nothing gives a value.';
  if (message.includes('data-modifying'))
    return 'The query would change data: it has a data-modifying statement in WITH.';
  return message;
}
