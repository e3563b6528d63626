/** Finds relations in the catalog: a statement that names a missing one would abort its transaction. */
import { type QueryExecutorProvider, sql } from 'kysely';

/** True if the schema has a table or view of this name. It needs no right on either. */
export async function relationExists(db: QueryExecutorProvider, schema: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = ${name}`.execute(db);
  return rows.length > 0;
}
