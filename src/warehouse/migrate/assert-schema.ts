/** Checks before a run buys anything that the tables to load into exist. */
import { sql } from 'kysely';
import { SchemaError } from '../../errors.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import type { Warehouse } from '../connect/connect.ts';
import { operationsTables } from '../schema/operations.ts';
import { tables } from '../schema/tables.ts';

/**
 * Throws a SchemaError if a table is missing or lacks columns. A schema whose migrations are all applied can be damaged
 * like that.
 */
export async function assertTablesPresent({
  db,
  schema,
  ops,
}: Pick<Warehouse, 'db' | 'schema' | 'ops'>): Promise<void> {
  const declared = [
    ...tables.map((it) => ({ ...it, schema })),
    ...operationsTables.map((it) => ({ ...it, schema: ops })),
  ];
  const { rows } = await sql<{ schema: string; name: string }>`
    select d.schema, d.name
    from unnest(
      ${arrayLiteral(declared.map((it) => it.schema))}::text[],
      ${arrayLiteral(declared.map(({ name }) => name))}::text[],
      ${arrayLiteral(declared.map(({ columns }) => columns.length))}::int[]
    ) as d(schema, name, columns)
    where d.columns > (
      select count(*) from pg_attribute
      where attrelid = to_regclass(format('%I.%I', d.schema, d.name)) and attnum > 0 and not attisdropped
    )
    limit 1`.execute(db);
  const [lacking] = rows;
  if (!lacking) return;
  throw new SchemaError(`the table ${lacking.schema}.${lacking.name} is missing or lacks columns; nothing was sent`, {
    next: 'Run sluice check to see the differences, restore the schema, then try again.',
  });
}
