/** The schema of a rebuild, which Sluice creates, labels and removes. It removes no schema without its label. */
import { type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OperationsTables } from '../../warehouse/schema/operations.ts';
import { createLabelledSchema, dropSchema, unlessKept } from './labelled-schema.ts';

/** A schema that a rebuild of this warehouse created. */
export interface RebuildSchema {
  readonly id: string;
  readonly name: string;
}

/** Postgres truncates names at 63 bytes; the rest is for the suffix and a number. */
const LONGEST_BASE = 50;

const labelOf = (id: string): string => `Work area of sluice replay --rebuild ${id}. Sluice removes it.`;

/** Creates a labelled schema with empty tables, under a free name; the label and its record commit together. */
export async function createRebuildSchema(
  warehouse: Pick<Warehouse, 'db' | 'schema' | 'ops'>,
  id: string,
  now: Date,
): Promise<RebuildSchema> {
  return operationsOf(warehouse)
    .transaction()
    .execute(async (tx) => {
      const name = await freeName(tx, warehouse.schema);
      await tx.insertInto('rebuilds').values({ id, schema_name: name, started_at: now.toISOString() }).execute();
      await createLabelledSchema(tx, warehouse.ops, { name, label: labelOf(id) });
      return { id, name };
    });
}

async function freeName(db: QueryExecutorProvider, schema: string): Promise<string> {
  const base = `${schema.slice(0, LONGEST_BASE)}_rebuild`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}_${number}`;
    const { rows } = await sql`select from pg_namespace where nspname = ${name}`.execute(db);
    if (rows.length === 0) return name;
  }
}

/**
 * Removes the schemas of killed rebuilds, and returns the names of those that could not be removed: other objects are
 * in them or depend on them, or they are in use. Hold the lease of rebuilds when you call it.
 */
export async function removeLeftRebuilds(warehouse: Pick<Warehouse, 'db' | 'ops'>): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const left of await leftRebuilds(warehouse))
    if (!(await removeRebuildSchema(warehouse, left))) kept.push(left.name);
  return kept;
}

/** Returns the schemas that rebuilds created and did not remove. */
export async function leftRebuilds(warehouse: Pick<Warehouse, 'db' | 'ops'>): Promise<readonly RebuildSchema[]> {
  const rows = await operationsOf(warehouse).selectFrom('rebuilds').select(['id', 'schema_name']).execute();
  return rows.map(({ id, schema_name: name }) => ({ id, name }));
}

/** Removes the schema if it still has the label; false if other objects depend on it, are in it or use it. */
export async function removeRebuildSchema(
  warehouse: Pick<Warehouse, 'db' | 'ops'>,
  area: RebuildSchema,
): Promise<boolean> {
  return unlessKept(warehouse.db.transaction().execute((tx) => removeRebuildIn(tx, warehouse, area)));
}

/** Removes the schema in the caller's transaction if it still has the label, and its record. Throws as `dropSchema` does. */
export async function removeRebuildIn(
  tx: Transaction<OperationsTables>,
  { ops }: Pick<Warehouse, 'ops'>,
  { id, name }: RebuildSchema,
): Promise<void> {
  if (await hasLabel(tx, { id, name })) await dropSchema(tx, name);
  await operationsOf({ db: tx, ops }).deleteFrom('rebuilds').where('id', '=', id).execute();
}

async function hasLabel(db: QueryExecutorProvider, { id, name }: RebuildSchema): Promise<boolean> {
  const { rows } = await sql`
    select from pg_namespace where nspname = ${name} and obj_description(oid, 'pg_namespace') = ${labelOf(id)}`.execute(
    db,
  );
  return rows.length > 0;
}
