/** The jobs of a test, and syncs that are due: their last firing was missed while no process ran the scheduler. */
import { sql } from 'kysely';
import type { Config } from '../../src/config/definition.ts';
import { openJobs } from '../../src/engine/boss.ts';
import type { Jobs, Scheduled } from '../../src/engine/jobs.ts';
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

/** Enters the schedules of a config, and has the clock stand still since two days ago. */
export async function makeDue(warehouse: Warehouse, { syncs }: Pick<Config, 'syncs'>): Promise<void> {
  const schedules = syncs.flatMap(({ name, schedule }) => (schedule ? [{ sync: name, schedule }] : []));
  await (await jobsOf(warehouse, schedules)).close();
  const ago = sql`clock_timestamp() - interval '2 days'`;
  await sql`update sluice_jobs.schedule set created_on = ${ago}`.execute(warehouse.db);
  await sql`update sluice_jobs.version set cron_on = ${ago}`.execute(warehouse.db);
}
