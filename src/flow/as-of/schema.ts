/** Schemas with the tables as of an earlier time. Sluice creates, labels and drops them, and drops no schema without its label. */
import { sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { createLabelledSchema, dropSchema, labelSchema, unlessKept } from '../rebuild/labelled-schema.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

type Database = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** The label is the comment of the schema. It names the warehouse's own schema, since a database may hold several. */
const beginningOf = ({ schema }: Pick<Warehouse, 'schema'>): string => `Tables of ${schema} as of `;
const REMOVED_BY = 'sluice replay --drop removes this schema.';
const UNFINISHED = '; not complete';
const labelOf = (warehouse: Pick<Warehouse, 'schema'>, asOf: Date, suffix: string): string =>
  `${beginningOf(warehouse)}${asOf.toISOString()}${suffix}. ${REMOVED_BY}`;

const NAME = /^(?!pg_)[a-z][a-z0-9_]{0,58}$/;

/** Creates the schema with empty tables, labelled as not complete. Throws a UsageError if the name is not free. */
export async function createAsOfSchema(warehouse: Database, name: string, asOf: Date): Promise<void> {
  if (!NAME.test(name))
    throw new UsageError(
      `replay: --schema is ${JSON.stringify(name)}; allowed are at most 59 lower-case letters, digits and _, beginning with a letter, not with pg_`,
    );
  try {
    await warehouse.db.transaction().execute(async (tx) => {
      await createLabelledSchema(tx, warehouse.ops, { name, label: labelOf(warehouse, asOf, UNFINISHED) });
    });
  } catch (error) {
    if (errorCode(error) !== SQL_STATE.duplicateSchema) throw error;
    const isOurs = (await asOfSchemas(warehouse)).includes(name);
    throw new UsageError(`replay: the schema ${name} exists`, {
      next: isOurs
        ? `Drop it with sluice replay --drop ${name}, or choose another name with --schema.`
        : 'Choose another name with --schema.',
      cause: error,
    });
  }
}

/** Labels the schema as complete. */
export const completeAsOfSchema = ({ db, schema }: Database, name: string, asOf: Date): Promise<void> =>
  labelSchema(db, name, labelOf({ schema }, asOf, ''));

/** Returns the names of the labelled schemas of this warehouse, complete or not. */
export async function asOfSchemas(warehouse: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace
    where starts_with(obj_description(oid, 'pg_namespace'), ${beginningOf(warehouse)})
      and right(obj_description(oid, 'pg_namespace'), ${REMOVED_BY.length}) = ${REMOVED_BY}
    order by 1`.execute(warehouse.db);
  return rows.map(({ name }) => name);
}

/** Drops a labelled schema; false if it has no label, or if other objects depend on it, were added to it, or use it. */
export async function dropAsOfSchema(warehouse: Database, name: string): Promise<boolean> {
  if (!(await asOfSchemas(warehouse)).includes(name)) return false;
  return unlessKept(warehouse.db.transaction().execute((tx) => dropSchema(tx, name)));
}
