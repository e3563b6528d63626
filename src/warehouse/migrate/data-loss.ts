/** Refuses to revert a migration if that would delete data. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { SchemaNames } from '../connect/connect.ts';
import { errorCode } from '../sql/errors.ts';
import { SQL_STATE } from '../sql/sql-states.ts';

/** A column. The ids stay the same when a table or column is renamed. */
interface Column {
  readonly tableId: string;
  readonly columnId: string;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
}

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
async function columnsOf(db: QueryExecutorProvider, { schema, ops }: SchemaNames): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select c.oid::text as "tableId", format('%s.%s', c.oid, a.attnum) as "columnId",
      n.nspname as schema, c.relname as table, a.attname as column
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    where n.nspname in (${schema}, ${ops}) and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
    order by n.nspname, c.relname, a.attnum`.execute(db);
  return rows;
}

/** The tables and columns that are only in the first list and contain data. Locks their tables against new rows. */
async function dataLossOf(
  db: QueryExecutorProvider,
  before: readonly Column[],
  after: readonly Column[],
): Promise<string[]> {
  const columns = new Set(after.map(({ columnId }) => columnId));
  const tables = new Set(after.map(({ tableId }) => tableId));
  const gone = before.filter(({ columnId }) => !columns.has(columnId));
  const goneTables = new Map(gone.filter(({ tableId }) => !tables.has(tableId)).map((it) => [it.tableId, it]));
  const lost: string[] = [];
  for (const it of goneTables.values()) if (await holds(db, it, sql`true`)) lost.push(it.table);
  for (const it of gone.filter(({ tableId }) => tables.has(tableId)))
    if (await holds(db, it, sql`${sql.id(it.column)} is not null`)) lost.push(`${it.table}.${it.column}`);
  return lost;
}

async function holds(
  db: QueryExecutorProvider,
  { schema, table }: Column,
  condition: ReturnType<typeof sql>,
): Promise<boolean> {
  await sql`lock table ${sql.id(schema, table)} in access exclusive mode`.execute(db);
  const { rows } = await sql<{ some: boolean }>`
    select exists (select from ${sql.id(schema, table)} where ${condition}) as some`.execute(db);
  return rows[0]?.some ?? false;
}
