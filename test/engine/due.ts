/** Makes syncs due: their last firing was missed while nobody kept the clock. */
import { sql } from 'kysely';
import type { Config } from '../../src/config/definition.ts';
import { openJobs } from '../../src/engine/boss.ts';
import type { Warehouse } from '../../src/warehouse/connect.ts';

/** Enters the schedules of a config, and has the clock stand still since two days ago. */
export async function makeDue(warehouse: Warehouse, { syncs }: Pick<Config, 'syncs'>): Promise<void> {
  const schedules = syncs.flatMap(({ name, schedule }) => (schedule ? [{ sync: name, schedule }] : []));
  const fail = (error: Error): void => {
    throw error;
  };
  await (await openJobs(warehouse, { schedules, onTrouble: fail })).close();
  const ago = sql`clock_timestamp() - interval '2 days'`;
  await sql`update sluice_jobs.schedule set created_on = ${ago}`.execute(warehouse.db);
  await sql`update sluice_jobs.version set cron_on = ${ago}`.execute(warehouse.db);
}
