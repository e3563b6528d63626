/** Translates errors of migrations into errors that the user can act on. */
import { SchemaError, TransientError, UsageError } from '../../errors.ts';
import type { SchemaNames } from '../connect/connect.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

/** The longest wait for another migration. */
export const OTHER_WITHIN_MS = 60_000;

/** The error of a user who lacks a right. */
export const withoutRight = (what: string, { schema, ops }: SchemaNames, cause?: unknown): UsageError =>
  new UsageError(`The migration lacks a right: ${what}.`, {
    next: `Let the owner of the database run the migration, grant CREATE on the database, or create the schemas ${schema} and ${ops} and make this user their owner.`,
    cause,
  });

/** The error for the user, if the cause is known; otherwise the same error. */
export function toMigrationError(error: unknown, warehouse: SchemaNames): unknown {
  const { schema, ops } = warehouse;
  switch (errorCode(error)) {
    case SQL_STATE.insufficientPrivilege:
      return withoutRight((error as Error).message, warehouse, error);
    case SQL_STATE.lockNotAvailable:
      return waitedFor('sessions that use its tables', error);
    case SQL_STATE.dependentObjectsStillExist:
      return new UsageError(`Your own objects depend on objects that the migration drops: ${dependents(error)}.`, {
        next: 'Nothing was changed. Drop your objects, run the migration again, and recreate them.',
        cause: error,
      });
    case SQL_STATE.featureNotSupported:
    case SQL_STATE.invalidTableDefinition:
      return new SchemaError(
        `One of your own objects depends on an object that the migration changes: ${dependents(error)}.`,
        {
          next: 'Nothing was changed. Drop your object, run the migration again, and recreate it.',
          cause: error,
        },
      );
    case SQL_STATE.duplicateTable:
      return new SchemaError(
        `The schema contains another object with a name that Sluice needs: ${(error as Error).message}.`,
        {
          next: `Choose another warehouse.schema, or move the object out of ${schema} and ${ops}.`,
          cause: error,
        },
      );
    case SQL_STATE.duplicateColumn:
    case SQL_STATE.duplicateObject:
    case SQL_STATE.wrongObjectType:
      return new SchemaError(`An object of yours has a name that Sluice needs: ${(error as Error).message}.`, {
        next: 'Nothing was changed. Rename or drop your object, then run the migration again.',
        cause: error,
      });
    default:
      return error;
  }
}

/** The error of a wait that took too long. */
export const waitedFor = (whom: string, cause: unknown): TransientError =>
  new TransientError(`The migration waited about ${OTHER_WITHIN_MS / 1000} s for ${whom}.`, {
    next: 'Run the migration again when that has ended.',
    cause,
  });

/** The names of the dependent objects, from the lines of the error's detail. */
function dependents(error: unknown): string {
  const { message, detail } = error as { readonly message: string; readonly detail?: unknown };
  return typeof detail === 'string' && detail !== '' ? detail.replaceAll('\n', ', ') : message;
}
