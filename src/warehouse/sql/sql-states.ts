/** The codes of errors. */

/** The error codes of Postgres (SQLSTATE) that the program distinguishes, under the names of its manual. */
export const SQL_STATE = {
  protocolViolation: '08P01',
  featureNotSupported: '0A000',
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  readOnlyTransaction: '25006',
  transactionTimeout: '25P04',
  invalidAuthorization: '28000',
  invalidPassword: '28P01',
  dependentObjectsStillExist: '2BP01',
  invalidCatalogName: '3D000',
  deadlockDetected: '40P01',
  insufficientPrivilege: '42501',
  duplicateColumn: '42701',
  undefinedColumn: '42703',
  duplicateObject: '42710',
  wrongObjectType: '42809',
  undefinedFunction: '42883',
  undefinedTable: '42P01',
  duplicateSchema: '42P06',
  duplicateTable: '42P07',
  invalidTableDefinition: '42P16',
  tooManyConnections: '53300',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  cannotConnectNow: '57P03',
} as const;

/** The code of a database or system error, even if the driver wraps it. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: unknown };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) ? errorCode(errors[0]) : undefined;
}
