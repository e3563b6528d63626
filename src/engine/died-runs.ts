/** Runs whose process died, and that no other process or job continues. Only the scheduler notices them. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { busySyncs } from './child-syncs.ts';

export interface DiedRun {
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly because: string;
}

/**
 * Returns the newest run of each sync whose lease expired before its end was recorded. Syncs with a job are left to
 * their workers.
 */
export async function diedRuns(warehouse: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<DiedRun[]> {
  const { db, schema } = warehouse;
  const { rows } = await sql<DiedRun>`
    select run_id as "runId", sync, endpoint, error as because from (
      select distinct on (sync) * from ${sql.id(schema, 'sync_runs')} order by sync, run_id desc
    ) newest where state = 'interrupted' and ended_at is null`.execute(db);
  if (rows.length === 0) return [];
  const busy = await busySyncs(db, warehouse);
  return rows.filter(({ sync }) => !busy.has(sync));
}
