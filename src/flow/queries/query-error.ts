/** Explains the error of a user's query: an empty warehouse, or a table that was probably meant. */
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { migrationStatus } from '../../warehouse/migrate/migrate.ts';
import { withNearTable } from './near-table.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

/** Returns the error of a query with the step that helps; an error that is not a UsageError unchanged. */
export async function withQueryHint(warehouse: Warehouse, error: unknown): Promise<unknown> {
  if (!(error instanceof UsageError)) return error;
  if (!(await isEmpty(warehouse))) return withNearTable(warehouse, error);
  return new UsageError(error.message, { next: 'The warehouse is empty: run sluice sync first.', cause: error });
}

/** True if the warehouse has no tables; false also for a user who may only read them and not the operations schema. */
async function isEmpty(warehouse: Warehouse): Promise<boolean> {
  try {
    return (await migrationStatus(warehouse)).state === 'empty';
  } catch (error) {
    if (errorCode(error) === SQL_STATE.insufficientPrivilege) return false;
    throw error;
  }
}
