/** Work that may hold a connection for long. */
import type { Transaction } from 'kysely';
import type { OperationsTables } from '../schema/operations.ts';
import type { Warehouse } from './connect.ts';

/**
 * Runs work that may hold a connection for long, such as a transaction that may wait for locks of other sessions. It waits
 * while others hold as many connections as long work may have. Call it outside a transaction, and not inside other long
 * work; `session` does the same by itself.
 */
export const runLong = <T>({ longWork }: Pick<Warehouse, 'longWork'>, work: () => Promise<T>): Promise<T> =>
  longWork ? longWork(work) : work();

/** Runs a transaction as long work. */
export const inLongTransaction = <T>(
  warehouse: Pick<Warehouse, 'db' | 'longWork'>,
  work: (tx: Transaction<OperationsTables>) => Promise<T>,
): Promise<T> => runLong(warehouse, () => warehouse.db.transaction().execute(work));
