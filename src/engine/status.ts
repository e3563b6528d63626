/**
 * The status of the engine, read from the database alone: processes, queues, active chunks, schedules and given-up
 * jobs.
 */
import { sql } from 'kysely';
import { syncLease } from '../ledger/lease.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { deadJobs } from './dead-jobs.ts';
import { jobOf } from './job.ts';
import { waitingFirings } from './schedules.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';

/** Prefix of the leases that show which processes are alive. */
export const ROLE_LEASE_PREFIX = 'role:';

export interface WorkerStatus {
  readonly role: string;
  /** Host, process id and a random part. */
  readonly holder: string;
  readonly since: Date;
}

export interface QueueStatus {
  readonly queue: string;
  /** Jobs that can start now. */
  readonly waiting: number;
  /** Jobs whose start time is in the future, such as retries. */
  readonly later: number;
  readonly atWork: number;
}

export interface SharedRunStatus {
  readonly sync: string;
  readonly runId: string;
  readonly chunks: number;
  readonly ended: number;
  /** Chunks that a worker executes. */
  readonly atWork: number;
}

export interface ScheduleStatus {
  readonly sync: string;
  readonly cron: string;
  readonly timezone: string;
  /** In the past if no scheduler runs. */
  readonly nextAt: Date;
}

export interface GivenUpSync {
  readonly sync: string;
  readonly exitCode: number | null;
  readonly because: string;
  readonly at: Date;
}

export interface EngineStatus {
  readonly workers: readonly WorkerStatus[];
  readonly queues: readonly QueueStatus[];
  readonly runs: readonly SharedRunStatus[];
  readonly schedules: readonly ScheduleStatus[];
  /** At most 100 jobs that were given up, newest first. */
  readonly givenUp: readonly GivenUpSync[];
  /** The number of all these jobs. */
  readonly givenUpJobs: number;
}

/** Most given-up jobs that the status lists. */
const MOST_DEAD = 100;

/** Why a job was given up if no run recorded an end. */
export const WORKER_DIED = 'its worker died, also when tried again';

type WarehouseSchemas = Pick<Warehouse, 'db' | 'ops' | 'schema'>;

/** Returns the status of the engine of a warehouse; undefined if none ever ran. */
export async function readEngineStatus(warehouse: WarehouseSchemas): Promise<EngineStatus | undefined> {
  const { db, ops, schema } = warehouse;
  const jobs = jobsSchema(schema);
  const found = await sql<{ found: boolean }>`select to_regclass(${`${jobs}.job`}) is not null as found`.execute(db);
  if (found.rows[0]?.found !== true) return undefined;
  const workers = await sql<WorkerStatus>`
    select split_part(name, ':', 2) as role, regexp_replace(name, '^[^:]*:[^:]*:', '') as holder, acquired_at as since
    from ${sql.id(ops, 'leases')}
    where starts_with(name, ${ROLE_LEASE_PREFIX}) and expires_at >= clock_timestamp() order by acquired_at`.execute(db);
  const queues = await sql<QueueStatus>`
    select q.name as queue,
      (count(*) filter (where j.state < 'active' and j.start_after <= clock_timestamp()))::int as waiting,
      (count(*) filter (where j.state < 'active' and j.start_after > clock_timestamp()))::int as later,
      (count(*) filter (where j.state = 'active'))::int as "atWork"
    from ${sql.id(jobs, 'queue')} q left join ${sql.id(jobs, 'job')} j on j.name = q.name
    where q.name in ('sync', 'chunk') group by q.name order by q.name desc`.execute(db);
  const runs = await sql<SharedRunStatus>`
    select r.sync, r.id as "runId", count(*)::int as chunks, (count(*) filter (where c.state <> 'open'))::int as ended,
      count(l.name)::int as "atWork"
    from ${sql.id(ops, 'runs')} r join ${sql.id(ops, 'chunks')} c on c.run_id = r.id
    left join ${sql.id(ops, 'leases')} s on s.name = ${syncLease('')} || r.sync
    left join ${sql.id(ops, 'leases')} l on l.name = 'chunk:' || c.run_id || ':' || s.token || ':' || c.number
      and c.state = 'open' and l.expires_at >= clock_timestamp()
    where r.state = 'running' group by r.sync, r.id order by r.sync`.execute(db);
  const schedules = await waitingFirings(db, warehouse);
  const dead = await deadJobs(warehouse, MOST_DEAD);
  return {
    workers: workers.rows,
    queues: queues.rows,
    runs: runs.rows,
    schedules: schedules.map(({ sync, schedule, at }) => ({
      sync,
      ...schedule,
      nextAt: at,
    })),
    givenUp: dead.flatMap(({ data, message, at }) => {
      const job = jobOf(data);
      const because = job?.because ?? message?.split('\n')[0] ?? WORKER_DIED;
      return job ? [{ sync: job.sync, exitCode: job.exitCode ?? null, because, at }] : [];
    }),
    givenUpJobs: dead[0]?.total ?? 0,
  };
}
