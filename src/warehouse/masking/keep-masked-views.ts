/** Keeps the masked views up to date when a migration changes what they read. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { SchemaNames } from '../connect/connect.ts';
import { presentColumns } from '../migrate/present-columns.ts';
import { readViewRights, restoreViewRights } from '../migrate/view-rights.ts';
import { OTHER_COLUMNS } from '../migrate/views.ts';
import { attempt } from '../sql/attempt.ts';
import { relationExists } from '../sql/relation-exists.ts';
import { type HasColumn, MASKING_KEYS, maskedSchema, maskedViews } from './masked-views.ts';

/**
 * Does the work, which drops the masked views that prevent it. Then replaces the masked views by those of what exists,
 * with the rights that they had. Without a masked schema it only does the work.
 */
export async function keepingMaskedViews<T>(
  trx: QueryExecutorProvider,
  names: SchemaNames,
  work: () => Promise<T>,
): Promise<T> {
  const schema = maskedSchema(names.schema);
  const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(trx);
  if (rows.length === 0) return work();
  const rights = await readViewRights(trx, schema);
  const result = await work();
  if (await relationExists(trx, names.ops, MASKING_KEYS)) {
    await replaceMaskedViews(trx, names);
    await restoreViewRights(trx, schema, rights);
  }
  return result;
}

/** Creates or replaces the masked views. Those whose existing columns change are dropped first. */
async function replaceMaskedViews(trx: QueryExecutorProvider, names: SchemaNames): Promise<void> {
  const masked = maskedViews(names, await existingColumns(trx, names));
  const execute = (statements: readonly string[]) => sql.raw(statements.join(';\n')).execute(trx);
  const all = masked.flatMap(({ statements }) => statements);
  if (await attempt(trx, OTHER_COLUMNS, () => execute(all))) return;
  for (const { name, statements } of masked) {
    if (await attempt(trx, OTHER_COLUMNS, () => execute(statements))) continue;
    await sql`drop view ${sql.id(maskedSchema(names.schema), name)}`.execute(trx);
    await execute(statements);
  }
}

async function existingColumns(trx: QueryExecutorProvider, { schema }: SchemaNames): Promise<HasColumn> {
  const columns = await presentColumns(trx, [schema]);
  const existing = new Set(columns.map(({ table, column }) => JSON.stringify([table, column])));
  return (relation, column) => existing.has(JSON.stringify([relation, column]));
}
