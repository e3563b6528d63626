/** Refuses to revert a migration if that would delete data. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { SchemaNames } from '../connect/connect.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';
import { hasRows, type PresentColumn, presentColumns } from './present-columns.ts';

/** Rehearses the step back and throws a UsageError if it deletes data, or if the earlier schema does not allow the rows. */
export async function refuseDataLoss(
  trx: QueryExecutorProvider,
  names: SchemaNames,
  back: () => Promise<unknown>,
): Promise<void> {
  const before = await columnsOf(trx, names);
  await sql`savepoint rehearsal`.execute(trx);
  await back().catch((error: unknown) => {
    throw notAllowedBefore(error) ?? error;
  });
  const after = await columnsOf(trx, names);
  await sql`rollback to savepoint rehearsal`.execute(trx);
  const loss = await dataLossOf(trx, before, after);
  if (loss.length === 0) return;
  throw new UsageError(`Reverting the last migration would delete the data in ${loss.join(', ')}.`, {
    next: 'Nothing was changed. If you want that, back up the warehouse and delete the data first.',
  });
}

/** Violations of constraints. */
const VIOLATION = /^23/;

/** The error for rows that violate a constraint of the earlier schema; undefined for any other error. */
function notAllowedBefore(error: unknown): UsageError | undefined {
  const code = errorCode(error) ?? '';
  if (!VIOLATION.test(code)) return undefined;
  const { message, detail, table } = error as { message: string; detail?: unknown; table?: unknown };
  const rows = typeof table === 'string' ? `rows of ${table}` : 'rows';
  const [, target] = /in table "([^"]+)"/.exec(typeof detail === 'string' ? detail : '') ?? [];
  const which =
    code === SQL_STATE.foreignKeyViolation && target !== undefined ? `${rows} that refer to no row of ${target}` : rows;
  return new UsageError(
    `Reverting the last migration would delete ${which}, which the earlier schema does not allow.`,
    {
      next: `Nothing was changed. If you want that, back up the warehouse and delete these rows first. The database reports: ${message}.`,
      cause: error,
    },
  );
}

/** The columns of the tables of both schemas. */
const columnsOf = async (db: QueryExecutorProvider, { schema, ops }: SchemaNames): Promise<PresentColumn[]> =>
  (await presentColumns(db, [schema, ops])).filter(({ isView }) => !isView);

/** The tables and columns that are only in the first list and contain data. Locks their tables against new rows. */
async function dataLossOf(
  db: QueryExecutorProvider,
  before: readonly PresentColumn[],
  after: readonly PresentColumn[],
): Promise<string[]> {
  const columns = new Set(after.map(({ columnId }) => columnId));
  const tables = new Set(after.map(({ tableId }) => tableId));
  const gone = before.filter(({ columnId }) => !columns.has(columnId));
  const goneTables = new Map(gone.filter(({ tableId }) => !tables.has(tableId)).map((it) => [it.tableId, it]));
  const lost: string[] = [];
  for (const it of goneTables.values()) {
    await lockTable(db, it);
    if (await hasRows(db, it)) lost.push(it.table);
  }
  for (const it of gone.filter(({ tableId }) => tables.has(tableId))) {
    await lockTable(db, it);
    if (await hasRows(db, it, sql`${sql.id(it.column)} is not null`)) lost.push(`${it.table}.${it.column}`);
  }
  return lost;
}

const lockTable = (db: QueryExecutorProvider, { schema, table }: PresentColumn) =>
  sql`lock table ${sql.id(schema, table)} in access exclusive mode`.execute(db);
