/**
 * Work whose process died: jobs that were given up because their workers died, and runs that no other process or job
 * continues. Nothing records how they ended, so the scheduler looks for them.
 */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { busySyncs } from './child-syncs.ts';
import { jobOf, type JobData } from './job.ts';
import { newestRun } from './newest-run.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';

export interface DiedRun {
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly because: string;
}

/**
 * Returns the newest run of each sync, except runs of a part, if its lease expired before its end was recorded. Syncs
 * with a job are left to their workers.
 */
export async function diedRuns(warehouse: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<DiedRun[]> {
  const { db, schema } = warehouse;
  const { rows } = await sql<DiedRun>`
    select run_id as "runId", sync, endpoint, error as because from (
      select distinct on (sync) * from ${sql.id(schema, 'sync_runs')} where scope is null order by sync, run_id desc
    ) newest where state = 'interrupted' and ended_at is null`.execute(db);
  if (rows.length === 0) return [];
  const busy = await busySyncs(db, warehouse);
  return rows.filter(({ sync }) => !busy.has(sync));
}

export interface LostJob {
  readonly id: string;
  readonly job: JobData;
}

/**
 * Returns lost jobs that were not requeued and whose sync has not ended since, oldest first. Throws a TransientError if
 * the database cannot be used.
 */
export async function lostJobs(warehouse: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<LostJob[]> {
  const { rows } = await sql<{ id: string; data: unknown }>`
    select id::text as id, data from ${sql.id(jobsSchema(warehouse.schema), 'job')}
    where name = 'dead' and state < 'active' and data ->> 'exitCode' is null and source_output ->> 'message' is null
    order by created_on`.execute(warehouse.db);
  const lost: LostJob[] = [];
  for (const { id, data } of rows) {
    const job = jobOf(data);
    if (!job) continue;
    const { endKey, exitCode } = await newestRun(warehouse, job.sync);
    const hasEndedSince = exitCode !== null && !(job.kind === 'sync' && job.since === endKey);
    if (!hasEndedSince) lost.push({ id, job });
  }
  return lost;
}
