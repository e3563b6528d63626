/**
 * Jobs that were given up because their workers died. No run records how they ended, so only this query reports them.
 */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { jobOf, type JobData } from './job.ts';
import { newestRun } from './newest-run.ts';
import { jobsSchema } from './queues.ts';

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
