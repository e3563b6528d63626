/** The jobs of a test, and syncs that are due: their last firing was missed while no process ran the scheduler. */
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { SyncDefinition } from '../../src/config/definition.ts';
import { openJobs } from '../../src/engine/boss.ts';
import type { JobData } from '../../src/engine/job.ts';
import type { Jobs, JobOutcome, Scheduled } from '../../src/engine/jobs.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

/** The jobs of a warehouse in which nothing is expected to go wrong; the caller closes them. */
export const jobsOf = (warehouse: Warehouse, schedules?: readonly Scheduled[]): Promise<Jobs> =>
  openJobs(warehouse, {
    onError: (error) => {
      throw error;
    },
    retry: { sleep: () => Promise.resolve(), random: () => 0.5 },
    ...(schedules && { schedules }),
  });

/** The jobs of a warehouse until the test ends. */
export async function jobsIn(warehouse: Warehouse, schedules?: readonly Scheduled[]): Promise<Jobs> {
  const jobs = await jobsOf(warehouse, schedules);
  onTestFinished(() => jobs.close());
  return jobs;
}

/** Starts jobs of syncs until so many arrived. */
export async function taken(
  jobs: Jobs,
  count: number,
  outcome: JobOutcome = { as: 'done' },
): Promise<readonly JobData[]> {
  const got: JobData[] = [];
  const enough = Promise.withResolvers<void>();
  await jobs.work('sync', 1, async ({ data }) => {
    got.push(data);
    if (got.length === count) enough.resolve();
    return outcome;
  });
  await enough.promise;
  return got;
}

/** A cron expression of two firings a day. Both are hours from now, so that none comes during a test, in any time zone of full hours. */
export const TWICE_A_DAY = `0 ${[new Date().getUTCHours() + 6, new Date().getUTCHours() + 18]
  .map((hour) => hour % 24)
  .toSorted((a, b) => a - b)
  .join(',')} * * *`;

interface Due {
  readonly syncs: readonly Pick<SyncDefinition, 'name' | 'schedule'>[];
}

/** Enters the schedules of a config, whose next firings were two days ago. */
export async function makeDue(warehouse: Warehouse, { syncs }: Due): Promise<void> {
  const schedules = syncs.flatMap(({ name, schedule }) => (schedule ? [{ sync: name, schedule }] : []));
  await (await jobsOf(warehouse, schedules)).close();
  await sql`update sluice_jobs.job set start_after = clock_timestamp() - interval '2 days',
    data = data || jsonb_build_object('at', clock_timestamp() - interval '2 days') where name = 'firing'`.execute(
    warehouse.db,
  );
}
