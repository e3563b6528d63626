/** Schedules on both warehouses: they equal those of the config, and each firing starts its sync once. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openJobs } from '../../src/engine/boss.ts';
import { firingsOf } from '../../src/engine/firings.ts';
import { syncJob } from '../../src/engine/job.ts';
import type { Scheduled } from '../../src/engine/jobs.ts';
import { readEngineStatus } from '../../src/engine/status.ts';
import { select } from '../flow/rows.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { jobsIn, jobsOf, makeDue, taken } from './due.ts';

const at = (sync: string, cron: string): Scheduled => ({ sync, schedule: { cron, timezone: 'UTC' } });

anyWarehouse('the schedules', (open) => {
  it('have the schedules of the config, and leave unchanged ones as they are', async () => {
    const warehouse = await open();
    const first = await jobsOf(warehouse, [at('a', '0 3 * * *'), at('b', '0 4 * * *')]);
    expect(first.reconciled).toEqual({ scheduled: ['a', 'b'], unscheduled: [] });
    await first.close();
    const second = await jobsIn(warehouse, [at('b', '0 4 * * *'), at('c', '0 5 * * *')]);
    expect(second.reconciled).toEqual({ scheduled: ['c'], unscheduled: ['a'] });
    const standing = await readEngineStatus(warehouse);
    expect(standing?.schedules).toEqual(
      [at('b', '0 4 * * *'), at('c', '0 5 * * *')].map(({ sync, schedule }) => ({
        sync,
        ...schedule,
        nextAt: firingsOf(schedule, new Date(), 1)[0],
      })),
    );
  });

  it('fire once for what was missed while no scheduler ran, and work on one job of a key at a time', async () => {
    const warehouse = await open();
    const schedules = [at('a', '0 0,12 * * *')];
    await makeDue(warehouse, { syncs: [{ name: 'a', schedule: schedules[0]?.schedule }] });
    const jobs = await jobsIn(warehouse, schedules);
    expect(jobs.reconciled).toEqual({ scheduled: [], unscheduled: [] });
    expect(await taken(jobs, 1)).toMatchObject([syncJob('a')]);
    await jobs.enqueue([1, 2, 3].map(() => ({ queue: 'sync', data: syncJob('z'), afterSeconds: 600 })));
    const standing = await readEngineStatus(warehouse);
    expect(standing?.queues.find(({ queue }) => queue === 'sync')).toMatchObject({ waiting: 0, later: 1 });
  });

  it('fire a schedule once in the hour that clocks repeat', async () => {
    const warehouse = await open();
    const schedules = [{ sync: 'a', schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }];
    const jobs = await jobsIn(warehouse, schedules);
    const first = '2036-10-26T00:00:00.000Z';
    await sql`update sluice_jobs.job set start_after = clock_timestamp(), data = data || ${JSON.stringify({ at: first })}::jsonb
      where name = 'firing'`.execute(warehouse.db);
    expect(await taken(jobs, 1)).toEqual([syncJob('a', 0, first)]);
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
    expect(await taken(jobs, 1)).toMatchObject([syncJob('a')]);
    const waiting = `select count(*)::int as n from sluice_jobs.job where name = 'firing' and state = 'created'
      and start_after > clock_timestamp()`;
    expect(await select(warehouse, waiting)).toEqual([{ n: 1 }]);
  });

  it('replace a firing that was computed under a clock that was far ahead, and one that another version wrote', async () => {
    const warehouse = await open();
    const schedules = ['a', 'b', 'c', 'd'].map((sync) => at(sync, '0 3 * * *'));
    await (await jobsOf(warehouse, schedules)).close();
    const later = async (sync: string, change: string): Promise<void> => {
      await sql`update sluice_jobs.job set start_after = '2040-01-01', data = data || '{"at": "2040-01-01T03:00:00Z"}',
        ${sql.raw(change)} where name = 'firing' and singleton_key = ${sync}`.execute(warehouse.db);
    };
    await later('b', `created_on = '2039-12-31'`);
    // It has fired, and then the clock was set back by less than an hour.
    await later('c', `created_on = clock_timestamp() + interval '50 minutes'`);
    await sql`update sluice_jobs.job set data = '{"of": "a later version"}'
      where name = 'firing' and singleton_key = 'd'`.execute(warehouse.db);
    const jobs = await jobsIn(warehouse, schedules);
    expect(jobs.reconciled).toEqual({ scheduled: ['b', 'd'], unscheduled: [] });
    const waiting = `select singleton_key as sync from sluice_jobs.job where name = 'firing'
      and start_after < '2040-01-01' order by 1`;
    expect(await select(warehouse, waiting)).toEqual([{ sync: 'a' }, { sync: 'b' }, { sync: 'd' }]);
  });

  it('fire although another version wrote a job that is due too', async () => {
    const warehouse = await open();
    const schedules = [at('a', '0 0 1 1 *'), at('b', '0 0 1 1 *')];
    const errors: string[] = [];
    const jobs = await openJobs(warehouse, {
      schedules,
      onError: ({ message }) => errors.push(message),
      retry: { sleep: () => Promise.resolve(), random: () => 0.5 },
    });
    await sql`update sluice_jobs.job set start_after = clock_timestamp(), created_on = case singleton_key
        when 'a' then clock_timestamp() - interval '1 day' else created_on end,
      data = case singleton_key when 'a' then '{"of": "a later version"}' else data end where name = 'firing'`.execute(
      warehouse.db,
    );
    expect(await taken(jobs, 1)).toMatchObject([syncJob('b')]);
    await jobs.close();
    expect(errors[0]).toBe('another version wrote a job of a schedule');
  });

  it('are those of an earlier version, with what it missed', async () => {
    const warehouse = await open();
    await (await jobsOf(warehouse)).close();
    await sql`insert into sluice_jobs.schedule (name, key, cron, timezone, data, options, created_on)
      select 'sync', sync, '0 0,12 * * *', 'UTC', '{}', '{"missed": "once"}', clock_timestamp() - interval '9 days'
      from (values ('a'), ('b')) as s(sync)`.execute(warehouse.db);
    await sql`update sluice_jobs.version set cron_on = clock_timestamp() - interval '2 days'`.execute(warehouse.db);
    const jobs = await jobsIn(warehouse, [at('a', '0 0,12 * * *')]);
    expect(jobs.reconciled).toEqual({ scheduled: ['a'], unscheduled: ['b'] });
    expect(await taken(jobs, 1)).toMatchObject([syncJob('a')]);
    expect(await select(warehouse, 'select key from sluice_jobs.schedule')).toEqual([]);
  });

  it('are removed also while a process has their firing', async () => {
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

const openPostgres = postgresWarehouses();

it('a firing whose schedule is removed before it is settled starts nothing', async () => {
  const warehouse = await openPostgres();
  const jobs = await jobsIn(warehouse, [at('a', '0 0 1 1 *')]);
  const states = `select name, state::text from sluice_jobs.job`;
  await warehouse.db.transaction().execute(async (tx) => {
    // As a scheduler does that starts with another config.
    await sql`select pg_advisory_xact_lock(hashtextextended('sluice_jobs', 0))`.execute(tx);
    await sql`update sluice_jobs.job set start_after = clock_timestamp()`.execute(warehouse.db);
    await expect
      .poll(() => select(warehouse, states), { timeout: 30_000 })
      .toEqual([{ name: 'firing', state: 'active' }]);
    await sql`delete from sluice_jobs.job`.execute(tx);
  });
  await jobs.close();
  expect(await select(warehouse, states)).toEqual([]);
});

it('two schedulers fire many schedules that are due at once, each once', async () => {
  const warehouse = await openPostgres();
  const schedules = Array.from({ length: 130 }, (_, index) => at(`s${index}`, '0 0 1 1 *'));
  await jobsIn(warehouse, schedules);
  await jobsIn(warehouse, schedules);
  await sql`update sluice_jobs.job set start_after = clock_timestamp() where name = 'firing'`.execute(warehouse.db);
  const counts = `select name, count(*)::int as n from sluice_jobs.job
    where state = 'created' and (name = 'sync' or start_after > clock_timestamp()) group by 1 order by 1`;
  await expect
    .poll(() => select(warehouse, counts), { timeout: 30_000 })
    .toEqual([
      { name: 'firing', n: 130 },
      { name: 'sync', n: 130 },
    ]);
});
