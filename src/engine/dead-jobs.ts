/** Jobs that were given up and still need a person. A job whose sync completed since is over: to requeue it would buy again. */
import { sql } from 'kysely';
import { EXIT } from '../errors.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';

export interface DeadJob {
  readonly id: string;
  readonly data: unknown;
  /** The error of the worker, if it threw one. */
  readonly message: string | null;
  readonly at: Date;
  /** The number of all such jobs, also of those that are not returned. */
  readonly total: number;
}

/** Returns given-up jobs whose sync has no complete run since, newest first. Both times are of the database's clock. */
export async function deadJobs(
  { db, ops, schema }: Pick<Warehouse, 'db' | 'ops' | 'schema'>,
  most?: number,
): Promise<readonly DeadJob[]> {
  const { rows } = await sql<DeadJob>`
    select j.id::text as id, j.data, j.created_on as at, (count(*) over ())::float8 as total,
      case jsonb_typeof(j.source_output -> 'message') when 'string' then j.source_output ->> 'message' end as message
    from ${sql.id(jobsSchema(schema), 'job')} j
    where j.name = 'dead' and j.state < 'active' and not exists (
      select from ${sql.id(ops, 'runs')} r
      where r.sync = j.data ->> 'sync' and r.scope is null and r.exit_code in (${EXIT.complete}, ${EXIT.rejects})
        and (r.ended_at > j.created_on or r.id::text = j.data ->> 'runId'))
    order by j.created_on desc limit ${most ?? null}::bigint`.execute(db);
  return rows;
}
