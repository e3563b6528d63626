/** Updates planner statistics, and reclaims dead rows where the database has no autovacuum. */
import { sql } from 'kysely';
import type { Warehouse } from './connect.ts';

/** A table of one of the two schemas. */
export interface TableRef {
  readonly area: 'analyst' | 'operations';
  readonly table: string;
}

/**
 * Refreshes the statistics of these tables after a large load, each table once. It also vacuums them in an embedded
 * warehouse, which has no autovacuum. Must not run inside a transaction.
 */
export async function analyzeTables(
  warehouse: Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db'>,
  tables: readonly TableRef[],
  signal?: AbortSignal,
): Promise<void> {
  const names = new Map(
    tables.map(({ area, table }) => [
      `${area}.${table}`,
      sql.id(area === 'analyst' ? warehouse.schema : warehouse.ops, table),
    ]),
  );
  const verb = sql.raw(warehouse.kind === 'embedded' ? 'vacuum (analyze)' : 'analyze');
  const remaining = names.values();
  const work = async (): Promise<void> => {
    for (const name of remaining) {
      signal?.throwIfAborted();
      await sql`${verb} ${name}`.execute(warehouse.db);
    }
  };
  // Two statements overlap: one reads a table while the other computes. If one loop throws, the other still finishes.
  for (const ended of await Promise.allSettled([work(), work()])) if (ended.status === 'rejected') throw ended.reason;
}
