/** Suggests the table or view that a query with an unknown name probably meant. */
import { nearest } from '../../config/document/nearest.ts';
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { readOnlyQuery } from '../../warehouse/connect/query.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

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
