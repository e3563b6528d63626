/** The time after which the server ends a silent transaction that writes. */
import { type QueryExecutorProvider, sql } from 'kysely';

/**
 * Begins a transaction that writes. The server ends it if the process says nothing for so long. Otherwise, if a machine is
 * suspended or loses its power or network in a transaction, other processes would wait for the locks for hours. It is one
 * text, so that it is one round trip and a pooler keeps it together.
 */
export const BEGIN_WRITING = "begin; set local idle_in_transaction_session_timeout = '15s'";

/** Removes the limit from a transaction whose process may compute for longer between two statements. */
export async function allowSilence(transaction: QueryExecutorProvider): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
}
