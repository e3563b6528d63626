/** Keeps the planner informed and dead rows from piling up, where the database doesn't see to it by itself. */
import { sql } from 'kysely';
import type { Warehouse } from './connect.ts';

/** A table of one of the two schemas. */
export interface TableRef {
  readonly area: 'analyst' | 'operations';
  readonly table: string;
}

/**
 * Refreshes the statistics of these tables after a large load; a table named twice is done once. The embedded warehouse
 * has no autovacuum, so there the space of dead rows is reclaimed too. May not run inside a transaction.
 */
export async function analyzeTables(
  warehouse: Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db'>,
  tables: readonly TableRef[],
  signal?: AbortSignal,
): Promise<void> {
  const places = new Map(
    tables.map(({ area, table }) => [
      `${area}.${table}`,
      sql.id(area === 'analyst' ? warehouse.schema : warehouse.ops, table),
    ]),
  );
  const verb = sql.raw(warehouse.kind === 'embedded' ? 'vacuum (analyze)' : 'analyze');
  const left = places.values();
  const work = async (): Promise<void> => {
    for (const place of left) {
      signal?.throwIfAborted();
      await sql`${verb} ${place}`.execute(warehouse.db);
    }
  };
  // One reads a table while another reckons; what one throws is told when the other has done the rest.
  for (const ended of await Promise.allSettled([work(), work()])) if (ended.status === 'rejected') throw ended.reason;
}
