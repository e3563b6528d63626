/** Reads several figures of one moment. */
import type { Transaction } from 'kysely';
import type { OperationsTables } from '../schema/operations.ts';
import type { Warehouse } from './connect.ts';

/** The result of the work in a transaction that only reads, and whose statements all see the rows of one moment. */
export const inSnapshot = <T>(
  db: Warehouse['db'],
  work: (tx: Transaction<OperationsTables>) => Promise<T>,
): Promise<T> => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
