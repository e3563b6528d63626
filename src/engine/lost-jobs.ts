/** Jobs that were given up because their workers died: no run says how they ended, so nobody would be told. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { jobOf, type JobData } from './job.ts';
import { newestRun } from './newest-run.ts';
import { jobsSchema } from './queues.ts';

export interface LostJob {
  readonly id: string;
  readonly job: JobData;
}

/** Those that nobody put back and whose sync came to no end since, oldest first. Throws a TransientError for a database that can't be used now. */
export async function lostJobs(place: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<LostJob[]> {
  const { rows } = await sql<{ id: string; data: unknown }>`
    select id::text as id, data from ${sql.id(jobsSchema(place.schema), 'job')}
    where name = 'dead' and state < 'active' and data ->> 'exitCode' is null and source_output ->> 'message' is null
    order by created_on`.execute(place.db);
  const lost: LostJob[] = [];
  for (const { id, data } of rows) {
    const job = jobOf(data);
    if (!job) continue;
    const { endKey, exitCode } = await newestRun(place, job.sync);
    const hasEndedSince = exitCode !== null && !(job.kind === 'sync' && job.since === endKey);
    if (!hasEndedSince) lost.push({ id, job });
  }
  return lost;
}
