/** The limits of time under which the server runs transactions that write. */
import { type QueryExecutorProvider, sql } from 'kysely';

/**
 * Begins a transaction that writes. The server ends it if the process says nothing for so long. Otherwise, if a machine is
 * suspended or loses its power or network in a transaction, other processes would wait for the locks for hours. A
 * `transaction_timeout` of the role does not apply: a migration, the plan of a million inputs or a rebuild would exceed it at
 * each retry. It is one text, so that it is one round trip and a pooler keeps it together.
 */
export const beginWriting = (hasTransactionTimeout: boolean): string =>
  `begin; set local idle_in_transaction_session_timeout = '15s'${hasTransactionTimeout ? `; set local ${TRANSACTION_TIMEOUT} = 0` : ''}`;

/** A setting of Postgres 17 and newer. */
export const TRANSACTION_TIMEOUT = 'transaction_timeout';

/** Removes the limit from a transaction whose process may compute for longer between two statements. */
export async function allowSilence(transaction: QueryExecutorProvider): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
}
