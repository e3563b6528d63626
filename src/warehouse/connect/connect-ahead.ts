/** Opens connections of a server during the first calls, so that their answers need not wait for a connection. */
import { sql } from 'kysely';
import type { Warehouse } from './connect.ts';

/** As many as statements of a run usually wait for at the same time. */
const MOST = 4;

/**
 * Resolves when the connections for this many open requests are there or failed. A connection costs both sides the processor
 * time of many statements, and a single request needs no other than the one that exists.
 */
export async function connectAhead({ kind, db }: Warehouse, requests: number): Promise<void> {
  if (kind === 'embedded') return;
  const connections = Math.min(MOST, requests - 1);
  await Promise.allSettled(Array.from({ length: connections }, () => sql`select 1`.execute(db)));
}
