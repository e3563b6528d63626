/**
 * The schedules of syncs. Each is a job that waits for its next firing. It then enqueues the job of its sync and, in the same
 * transaction, itself for the firing after that.
 */
import { sql } from 'kysely';
import { fromKysely, type PgBoss } from 'pg-boss';
import * as z from 'zod';
import { DAY_MS } from '../day.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';
import { firingsOf } from './firings.ts';
import { type NewJob, syncJob } from './job.ts';
import type { Scheduled, ScheduleChanges, Tx } from './jobs.ts';
import { FIRING, POLL_SECONDS } from './queues.ts';

/** Many schedules are due at the same minute. */
const FIRINGS_AT_ONCE = 100;

const firingData = z.object({ sync: z.string(), cron: z.string(), timezone: z.string(), at: z.coerce.date() });

/** A schedule and the time of a firing. */
export interface Firing extends Scheduled {
  readonly at: Date;
}

/** Parses the data of a job that waits for a firing; undefined if this version does not know them. */
function firingOf(data: unknown): Firing | undefined {
  const parsed = firingData.safeParse(data).data;
  return parsed && { sync: parsed.sync, schedule: { cron: parsed.cron, timezone: parsed.timezone }, at: parsed.at };
}

interface WaitingJob {
  readonly id: string;
  readonly createdAt: Date;
  /** Undefined if another version wrote the job. */
  readonly firing: Firing | undefined;
}

/** Returns the schedules of a warehouse with their next firings, ordered by sync. */
export const waitingFirings = async (db: Tx, warehouse: Pick<Warehouse, 'schema'>): Promise<readonly Firing[]> =>
  (await waitingJobs(db, warehouse)).flatMap((job) => job.firing ?? []);

async function waitingJobs(db: Tx, { schema }: Pick<Warehouse, 'schema'>): Promise<readonly WaitingJob[]> {
  const { rows } = await sql<{ id: string; createdAt: Date; data: unknown }>`
    select id::text as id, created_on as "createdAt", data from ${sql.id(jobsSchema(schema), 'job')}
    where name = ${FIRING} and state in ('created', 'retry', 'active') order by singleton_key`.execute(db);
  return rows.map(({ data, ...job }) => ({ ...job, firing: firingOf(data) }));
}

/** If a clock was ahead by more than this when a firing was computed, the firing is computed again. */
const AHEAD_MS = DAY_MS / 24;

/**
 * Makes the schedules equal to those in the config. Unchanged schedules are not touched, so a firing that was missed while no
 * scheduler ran happens now.
 */
export async function reconcileSchedules(
  boss: PgBoss,
  tx: Tx,
  warehouse: Pick<Warehouse, 'schema'>,
  wanted: readonly Scheduled[],
): Promise<ScheduleChanges> {
  const now = await databaseTime(tx);
  const jobs = await waitingJobs(tx, warehouse);
  const known = jobs.flatMap(({ firing }) => firing?.sync ?? []);
  const isOf = ({ firing, createdAt }: WaitingJob, { sync, schedule }: Scheduled): boolean =>
    firing?.sync === sync &&
    firing.schedule.cron === schedule.cron &&
    firing.schedule.timezone === schedule.timezone &&
    createdAt.getTime() <= now.getTime() + AHEAD_MS;
  for (const job of jobs)
    if (!wanted.some((it) => isOf(job, it))) await boss.deleteJob(FIRING, job.id, { db: fromKysely(tx) });
  const changed = wanted.filter((it) => !jobs.some((job) => isOf(job, it)));
  const former = await removeFormerSchedules(tx, warehouse);
  for (const it of changed) await enqueueFiring(boss, tx, it, former.get(it.sync) ?? now);
  return {
    scheduled: changed.map(({ sync }) => sync),
    unscheduled: [...known, ...former.keys()].filter((sync) => !wanted.some((it) => it.sync === sync)),
  };
}

/** Removes the schedules of an earlier version, which used the library's; returns since when their firings are due, by sync. */
async function removeFormerSchedules(
  tx: Tx,
  { schema }: Pick<Warehouse, 'schema'>,
): Promise<ReadonlyMap<string, Date>> {
  const jobs = jobsSchema(schema);
  const { rows } = await sql<{ sync: string; since: Date }>`
    with former as (delete from ${sql.id(jobs, 'schedule')} where name = 'sync' returning key, created_on)
    select key as sync, greatest(created_on, cron_on) as since from former, ${sql.id(jobs, 'version')}`.execute(tx);
  return new Map(rows.map(({ sync, since }) => [sync, since]));
}

/** A job that a process executes. */
export interface JobAttempt {
  readonly id: string;
  readonly retryCount: number;
}

/** Returns the follow-up jobs of a job, in the transaction that ends it. */
export type FollowUpJobs = (tx: Tx) => Promise<readonly NewJob[]>;

export type SettleFiring = (job: JobAttempt, follows: FollowUpJobs) => Promise<void>;

/** Fires the schedules that are due, until the queue is closed. */
export async function fireSchedules(
  boss: PgBoss,
  settle: SettleFiring,
  onError: (error: Error) => void,
): Promise<void> {
  const options = { pollingIntervalSeconds: POLL_SECONDS, batchSize: FIRINGS_AT_ONCE };
  const fire = async ({ id, retryCount, data }: JobAttempt & { readonly data: unknown }): Promise<void> => {
    const due = firingOf(data);
    if (!due) throw new Error('another version wrote a job of a schedule');
    await settle({ id, retryCount }, async (tx) => {
      const now = await databaseTime(tx);
      // Never the same firing again, also if the clock was set back.
      await enqueueFiring(boss, tx, due, due.at > now ? due.at : now);
      return [{ queue: 'sync', data: syncJob(due.sync, 0, due.at.toISOString()) }];
    });
  };
  await boss.work(FIRING, options, async (jobs) => {
    const errors: unknown[] = [];
    for (const job of jobs) await fire(job).catch((error: unknown) => errors.push(error));
    for (const error of errors) onError(error as Error);
    // The library tries the jobs again that were not settled.
    if (errors.length > 0) throw errors[0];
  });
}

async function enqueueFiring(boss: PgBoss, tx: Tx, { sync, schedule }: Scheduled, after: Date): Promise<void> {
  const [at] = firingsOf(schedule, after, 1);
  if (!at) return;
  const data = { sync, ...schedule, at };
  await boss.send(FIRING, data, { db: fromKysely(tx), singletonKey: sync, startAfter: at });
}

/** The queue compares the start of its jobs with this clock. */
async function databaseTime(tx: Tx): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error('The database did not return its time.');
  return row.now;
}
