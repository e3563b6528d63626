/** Schedules on both warehouses: they equal those of the config, and each firing starts its sync once. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { syncJob } from '../../src/engine/job.ts';
import type { Scheduled } from '../../src/engine/jobs.ts';
import { readEngineStatus } from '../../src/engine/status.ts';
import { select } from '../flow/rows.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { jobsIn, jobsOf, taken } from './due.ts';

const at = (sync: string, cron: string): Scheduled => ({ sync, schedule: { cron, timezone: 'UTC' } });

eachWarehouse('the schedules', (open) => {
  it('have the schedules of the config, and leave unchanged ones as they are', async () => {
    const warehouse = await open();
    const first = await jobsOf(warehouse, [at('a', '0 3 * * *'), at('b', '0 4 * * *')]);
    expect(first.reconciled).toEqual({ scheduled: ['a', 'b'], unscheduled: [] });
    await first.close();
    const second = await jobsIn(warehouse, [at('b', '0 4 * * *'), at('c', '0 5 * * *')]);
    expect(second.reconciled).toEqual({ scheduled: ['c'], unscheduled: ['a'] });
    const standing = await readEngineStatus(warehouse, new Date('2026-03-06T12:00:00Z'));
    expect(standing?.schedules.map(({ sync, nextAt }) => [sync, nextAt?.toISOString()])).toEqual([
      ['b', '2026-03-07T04:00:00.000Z'],
      ['c', '2026-03-07T05:00:00.000Z'],
    ]);
  });

  it('fire what was missed once, and of one key one at a time', async () => {
    const warehouse = await open();
    const schedules = [at('a', '0 0,12 * * *')];
    await (await jobsOf(warehouse, schedules)).close();
    await sql`update sluice_jobs.job set start_after = clock_timestamp() - interval '2 days'`.execute(warehouse.db);
    const jobs = await jobsIn(warehouse, schedules);
    expect(await taken(jobs, 1)).toEqual([syncJob('a')]);
    await jobs.enqueue([1, 2, 3].map(() => ({ queue: 'sync', data: syncJob('z'), afterSeconds: 600 })));
    const standing = await readEngineStatus(warehouse, new Date());
    expect(standing?.queues.find(({ queue }) => queue === 'sync')).toMatchObject({ waiting: 0, later: 1 });
  });

  it('fire a schedule once in the hour that clocks repeat', async () => {
    const warehouse = await open();
    const schedules = [{ sync: 'a', schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }];
    const jobs = await jobsIn(warehouse, schedules);
    const first = '2036-10-26T00:00:00.000Z';
    await sql`update sluice_jobs.job set start_after = clock_timestamp(), data = data || ${JSON.stringify({ at: first })}::jsonb
      where name = 'firing'`.execute(warehouse.db);
    expect(await taken(jobs, 1)).toEqual([syncJob('a')]);
    const waiting = `select data ->> 'at' as at, start_after from sluice_jobs.job where name = 'firing' and state = 'created'`;
    const next = '2036-10-27T01:00:00.000Z';
    expect(await select(warehouse, waiting)).toEqual([{ at: next, start_after: new Date(next) }]);
  });

  it('fire when the process that took a firing died before it started the sync', async () => {
    const warehouse = await open();
    const schedules = [at('a', '0 0 1 1 *')];
    await (await jobsOf(warehouse, schedules)).close();
    await sql`update sluice_jobs.job set state = 'active', start_after = clock_timestamp() - interval '1 day', retry_delay = 0,
      started_on = clock_timestamp() - interval '1 hour' where name = 'firing'`.execute(warehouse.db);
    const jobs = await jobsIn(warehouse, schedules);
    expect(await taken(jobs, 1)).toEqual([syncJob('a')]);
    const waiting = `select count(*)::int as n from sluice_jobs.job where name = 'firing' and state = 'created'
      and start_after > clock_timestamp()`;
    expect(await select(warehouse, waiting)).toEqual([{ n: 1 }]);
  });

  it('replace a firing that was computed under a clock that was ahead, and one that another version wrote', async () => {
    const warehouse = await open();
    const schedules = [at('a', '0 3 * * *'), at('b', '0 4 * * *'), at('c', '0 5 * * *')];
    await (await jobsOf(warehouse, schedules)).close();
    await sql`update sluice_jobs.job set start_after = '2040-01-01', data = data || '{"at": "2040-01-01T04:00:00Z"}'
      where name = 'firing' and singleton_key = 'b'`.execute(warehouse.db);
    await sql`update sluice_jobs.job set start_after = '2040-01-01', data = '{"of": "a later version"}'
      where name = 'firing' and singleton_key = 'c'`.execute(warehouse.db);
    const jobs = await jobsIn(warehouse, schedules);
    expect(jobs.reconciled).toEqual({ scheduled: ['b', 'c'], unscheduled: [] });
    const waiting = `select count(*)::int as n from sluice_jobs.job where name = 'firing' and start_after < '2040-01-01'`;
    expect(await select(warehouse, waiting)).toEqual([{ n: 3 }]);
  });

  it('start nothing for a firing whose schedule was removed while a process had it', async () => {
    const warehouse = await open();
    await (await jobsOf(warehouse, [at('a', '0 0 1 1 *')])).close();
    await sql`update sluice_jobs.job set state = 'active', started_on = clock_timestamp() where name = 'firing'`.execute(
      warehouse.db,
    );
    const jobs = await jobsIn(warehouse, []);
    expect(jobs.reconciled).toEqual({ scheduled: [], unscheduled: ['a'] });
    expect(await select(warehouse, `select name from sluice_jobs.job`)).toEqual([]);
  });
});
