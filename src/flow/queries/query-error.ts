/** Explains the error of a user's query: an empty warehouse, or a table that was probably meant. */
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { migrationStatus } from '../../warehouse/migrate/migrate.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';
import { nearest } from '../../config/document/nearest.ts';
import { readOnlyQuery } from '../../warehouse/connect/query.ts';

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

/** Returns the error of an unknown table with a suggested name; any other error unchanged. */
export async function withNearTable(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  error: UsageError,
): Promise<UsageError> {
  if (errorCode(error.cause) !== SQL_STATE.undefinedTable) return error;
  const unknown = /"(?:[^".]*\.)?([^"]*)"/.exec(error.message)?.[1] ?? '';
  const { rows } = await readOnlyQuery(
    warehouse,
    'select table_name as name from information_schema.tables where table_schema = current_schema() order by 1',
  );
  const meant = nearest(
    unknown,
    rows.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
  );
  const next =
    meant === undefined ? 'sluice tables lists the tables, and their columns with a name.' : `Did you mean ${meant}?`;
  return new UsageError(error.message, { next, cause: error.cause });
}
