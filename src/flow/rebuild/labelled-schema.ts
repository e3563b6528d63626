/** Schemas that Sluice creates beside the warehouse's own, and labels by a comment. It drops no schema without its label. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { releaseListKeys } from '../../warehouse/migrate/list-keys.ts';
import { createTables } from '../../warehouse/schema/ddl.ts';
import { tables } from '../../warehouse/schema/tables.ts';
import { literal } from '../../warehouse/sql/identifiers.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';
import { LOCK_WITHIN_MS } from './with-lock-retries.ts';

/** Creates a schema with this label and every analyst table, empty. Call it in a transaction. */
export async function createLabelledSchema(
  tx: QueryExecutorProvider,
  ops: string,
  { name, label }: { readonly name: string; readonly label: string },
): Promise<void> {
  await sql`create schema ${sql.id(name)}`.execute(tx);
  await labelSchema(tx, name, label);
  await sql`set local search_path to ${sql.id(name)}`.execute(tx);
  for (const statement of createTables(tables)) await sql.raw(statement).execute(tx);
  await releaseListKeys(tx, { schema: name, ops });
}

/** Sets the label of a schema: its comment. */
export async function labelSchema(db: QueryExecutorProvider, name: string, label: string): Promise<void> {
  await sql`comment on schema ${sql.id(name)} is ${sql.raw(literal(label))}`.execute(db);
}

const KEPT: readonly string[] = [SQL_STATE.lockNotAvailable, SQL_STATE.dependentObjectsStillExist];

/** True if a schema was not dropped because a session uses it, or because other objects are in it or depend on it. */
export const isKept = (error: unknown): boolean => KEPT.includes(errorCode(error) ?? '');

/** Does work that drops a schema; false if the schema is kept because of a session or other objects. */
export async function unlessKept(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isKept(error)) return false;
    throw error;
  }
}

/**
 * Drops a schema with the analyst tables in it, and waits for locks only briefly. Throws the database's error if other
 * objects depend on it or are in it, because these belong to users.
 */
export async function dropSchema(tx: QueryExecutorProvider, schema: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(LOCK_WITHIN_MS)}, true)`.execute(tx);
  await sql`drop table if exists ${sql.join(tables.map((it) => sql.id(schema, it.name)))}`.execute(tx);
  await sql`drop schema ${sql.id(schema)}`.execute(tx);
}
