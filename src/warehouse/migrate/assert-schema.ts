/** Whether the tables are there to load into, which is asked before anything is bought. */
import { sql } from 'kysely';
import { SchemaError } from '../../errors.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import type { Warehouse } from '../connect/connect.ts';
import { operationsTables } from '../schema/operations.ts';
import { tables } from '../schema/tables.ts';

/** Throws a SchemaError that names a table which lacks columns, or is missing, of a schema that says it is current. */
export async function assertTablesPresent({
  db,
  schema,
  ops,
}: Pick<Warehouse, 'db' | 'schema' | 'ops'>): Promise<void> {
  const declared = [
    ...tables.map((it) => ({ ...it, of: schema })),
    ...operationsTables.map((it) => ({ ...it, of: ops })),
  ];
  const { rows } = await sql<{ schema: string; name: string }>`
    select d.schema, d.name
    from unnest(
      ${arrayLiteral(declared.map((it) => it.of))}::text[],
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
  throw new SchemaError(`the table ${lacking.schema}.${lacking.name} lacks columns, or is missing; nothing was sent`, {
    next: 'sluice check says what differs; put it back, then run it again.',
  });
}
