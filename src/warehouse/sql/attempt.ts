/** Tries statements inside a transaction, which their failure would otherwise end. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { errorCode } from './sql-states.ts';

/** The result of the work; undefined, with nothing changed, if it fails with one of these error codes. */
export async function attempt<T>(
  trx: QueryExecutorProvider,
  codes: readonly string[],
  work: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  await sql`savepoint attempt`.execute(trx);
  try {
    const value = await work();
    await sql`release savepoint attempt`.execute(trx);
    return { value };
  } catch (error) {
    if (!codes.includes(errorCode(error) ?? '')) throw error;
    await sql`rollback to savepoint attempt`.execute(trx);
    await sql`release savepoint attempt`.execute(trx);
    return undefined;
  }
}
