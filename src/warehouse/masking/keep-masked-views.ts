/** Keeps the masked views up to date while a migration changes what they read. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { SchemaNames } from '../connect/connect.ts';
import { readViewRights, restoreViewRights } from '../migrate/view-rights.ts';
import { APPLIED_VIEWS } from '../migrate/views-current.ts';
import { relationExists } from '../sql/relation-exists.ts';
import { MASKING_KEYS, maskedSchema, maskedViewNames, maskedViewStatements } from './masked-views.ts';

/**
 * Does the work without the masked views, because they would prevent changes of what they read. Creates them again for
 * what exists then, with the rights that they had. Without a masked schema it only does the work.
 */
export async function withoutMaskedViews<T>(
  trx: QueryExecutorProvider,
  names: SchemaNames,
  work: () => Promise<T>,
): Promise<T> {
  const schema = maskedSchema(names.schema);
  const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(trx);
  if (rows.length === 0) return work();
  const rights = await readViewRights(trx, schema);
  const masked = new Set([...maskedViewNames(), ...(await appliedViewNames(trx, names))]);
  await sql`drop view if exists ${sql.join([...masked].map((name) => sql.id(schema, name)))}`.execute(trx);
  const result = await work();
  if (await relationExists(trx, names.ops, MASKING_KEYS)) {
    await createMaskedViews(trx, names);
    await restoreViewRights(trx, schema, rights);
  }
  return result;
}

/** The names of the views that the last migration created, which may be those of another version. */
async function appliedViewNames(trx: QueryExecutorProvider, { ops }: SchemaNames): Promise<string[]> {
  if (!(await relationExists(trx, ops, APPLIED_VIEWS))) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.id(ops, APPLIED_VIEWS)}`.execute(trx);
  return rows.map(({ name }) => name);
}

/** Creates the masked views of the tables, views and columns that exist. The masked schema has to exist. */
async function createMaskedViews(trx: QueryExecutorProvider, names: SchemaNames): Promise<void> {
  const { rows } = await sql<{ relation: string; column: string }>`
    select c.relname as relation, a.attname as column
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname = ${names.schema} and c.relkind in ('r', 'p', 'v')`.execute(trx);
  const existing = new Set(rows.map(({ relation, column }) => JSON.stringify([relation, column])));
  const statements = maskedViewStatements(names, (relation, column) =>
    existing.has(JSON.stringify([relation, column])),
  );
  await sql.raw(statements.join(';\n')).execute(trx);
}
