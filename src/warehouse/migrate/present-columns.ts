/** The columns that the database has, whatever this version declares. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { anyText } from '../sql/array-literal.ts';

/** A column. The ids stay the same when a table or column is renamed. */
export interface PresentColumn {
  readonly tableId: string;
  readonly columnId: string;
  readonly schema: string;
  /** The name of the table or view. */
  readonly table: string;
  readonly isView: boolean;
  readonly column: string;
}

/** The columns of all tables and views of these schemas. */
export async function presentColumns(
  db: QueryExecutorProvider,
  schemas: readonly string[],
): Promise<readonly PresentColumn[]> {
  const { rows } = await sql<PresentColumn>`
    select c.oid::text as "tableId", format('%s.%s', c.oid, a.attnum) as "columnId",
      n.nspname as schema, c.relname as table, c.relkind = 'v' as "isView", a.attname as column
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    where n.nspname = ${anyText(schemas)} and c.relkind in ('r', 'p', 'v')
      and a.attnum > 0 and not a.attisdropped
    order by n.nspname, c.relname, a.attnum`.execute(db);
  return rows;
}

/** True if the table has a row that satisfies the condition. */
export async function hasRows(
  db: QueryExecutorProvider,
  { schema, table }: Pick<PresentColumn, 'schema' | 'table'>,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`
    select exists (select from ${sql.id(schema, table)} where ${condition}) as some`.execute(db);
  return rows[0]?.some ?? false;
}
