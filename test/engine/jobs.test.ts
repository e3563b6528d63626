/** The jobs on both warehouses: jobs outlive their workers, and jobs that were given up are requeued. */
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { HeldError } from '../../src/errors.ts';
import { childrenToStart } from '../../src/engine/child-syncs.ts';
import { type JobData, syncJob } from '../../src/engine/job.ts';
import type { JobOutcome } from '../../src/engine/jobs.ts';
import { lostJobs } from '../../src/engine/died-work.ts';
import { readEngineStatus, WORKER_DIED } from '../../src/engine/status.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { configOf } from '../flow/scene.ts';
import { select } from '../flow/rows.ts';
import { anyWarehouse, eachWarehouse } from '../support/warehouse.ts';
import { jobsIn, jobsOf, taken } from './due.ts';

eachWarehouse('the jobs', (open) => {
  it('enter what follows together with the end, show what was given up, and put it back', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    await jobs.enqueue([{ queue: 'sync', data: syncJob('a') }]);
    const dead = { ...syncJob('a', 3), exitCode: 3, because: 'the token was refused' };
    await taken(jobs, 1, { as: 'done', follows: async () => [{ queue: 'dead', data: dead }] });
    await expect
      .poll(async () => (await readEngineStatus(warehouse))?.givenUp)
      .toMatchObject([{ sync: 'a', exitCode: 3, because: 'the token was refused' }]);
    expect(await jobs.redrive(['b'])).toEqual([]);
    expect(await jobs.redrive([])).toEqual(['a']);
    expect((await readEngineStatus(warehouse))?.givenUp).toEqual([]);
  });

  it('are over, though given up, when their syncs completed since: only their names put them back', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    const dead = ['completed', 'failed', 'sampled', 'before'].map((sync) => ({ ...syncJob(sync), exitCode: 3 }));
    // Several chunks of one run can be given up; one job of its sync continues them all.
    const chunks = ['1', '2', '2'].map((runId) => ({ ...CHUNK, sync: 'shared', runId, chunk: 0 }));
    await jobs.enqueue([...dead, ...chunks].map((data) => ({ queue: 'dead', data })));
    await sql`insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, scope)
      select sync, 'pronet.group', '', 'complete', exit_code, '2026-01-01', now(), now() + span::interval, scope from (values
        ('shared', 0, '-1 hour', null), ('shared', 3, '1 hour', null), ('completed', 4, '1 hour', null),
        ('failed', 3, '1 hour', null), ('sampled', 0, '1 hour', 'limited'), ('before', 0, '-1 hour', null)
      ) as r(sync, exit_code, span, scope)`.execute(warehouse.db);
    const left = ['before', 'failed', 'sampled', 'shared'];
    const status = await readEngineStatus(warehouse);
    expect(status?.givenUp.map(({ sync }) => sync).toSorted()).toEqual([...left, 'shared']);
    expect((await jobs.redrive([])).toSorted()).toEqual(left);
    expect(await jobs.redrive([])).toEqual([]);
    expect(await jobs.redrive(['completed'])).toEqual(['completed']);
    await jobs.enqueue(Array.from({ length: 103 }, () => ({ queue: 'dead', data: syncJob('often') })));
    const many = await readEngineStatus(warehouse);
    expect([many?.givenUp.length, many?.givenUpJobs]).toEqual([100, 103]);
  });

  it('wait for a handler that outlives its job, and find out then how it ended', async () => {
    const warehouse = await open();
    const jobs = await jobsOf(warehouse);
    await jobs.enqueue([{ queue: 'sync', data: syncJob('a') }]);
    await sql`update sluice_jobs.job set expire_seconds = 1 where name = 'sync'`.execute(warehouse.db);
    const order: string[] = [];
    const long = Promise.withResolvers<void>();
    const again = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    await jobs.work('sync', 2, async ({ data, saveData }) => {
      const run = `${data.kind === 'sync' ? data.since : ''}`;
      order.push(`${run} begins`);
      if (run === 'undefined') await saveData({ ...syncJob('a'), since: 'first run' });
      await (run === 'undefined' ? long : second).promise;
      order.push(`${run} ends`);
      again.resolve();
      return { as: 'done' };
    });
    const row = async () => {
      await sql`update sluice_jobs.job set start_after = clock_timestamp() where state = 'retry'`.execute(warehouse.db);
      const { rows } = await sql`select state::text, data from sluice_jobs.job where name = 'sync'
        and state in ('created', 'active', 'retry')`.execute(warehouse.db);
      return rows;
    };
    const postponed = [{ state: 'created', data: { ...syncJob('a'), since: 'first run' } }];
    await expect.poll(row, { timeout: 30_000 }).toEqual(postponed);
    expect(order).toEqual(['undefined begins']);
    long.resolve();
    await again.promise;
    expect(await row()).toEqual(postponed);
    await sql`update sluice_jobs.job set start_after = clock_timestamp(), expire_seconds = 1
      where state = 'created'`.execute(warehouse.db);
    await expect.poll(() => order, { timeout: 30_000 }).toContain('first run begins');
    await expect.poll(row, { timeout: 30_000 }).toEqual(postponed);
    const closed = jobs.close().then(() => order.push('closed'));
    await expect.poll(() => connectionsOfJobs(warehouse), { timeout: 30_000 }).toBe(0);
    second.resolve();
    await closed;
    expect(order).toEqual(['undefined begins', 'undefined ends', 'first run begins', 'first run ends', 'closed']);
  });

  it('refuse data for a job that was given up meanwhile, and enter nothing that follows it', async () => {
    const warehouse = await open();
    const jobs = await jobsOf(warehouse);
    await jobs.enqueue([{ queue: 'sync', data: syncJob('a') }]);
    const refused = Promise.withResolvers<unknown>();
    await jobs.work('sync', 1, async ({ data, saveData }) => {
      await sql`update sluice_jobs.job set retry_count = retry_count + 1 where name = 'sync'`.execute(warehouse.db);
      refused.resolve(await saveData({ ...syncJob('a'), since: 'a run' }).catch((error: unknown) => error));
      return { as: 'done', follows: async () => [{ queue: 'chunk', data }] };
    });
    expect(await refused.promise).toBeInstanceOf(HeldError);
    await jobs.close();
    await expect.poll(() => connectionsOfJobs(warehouse), { timeout: 30_000 }).toBe(0);
    expect(await select(warehouse, 'select name, state::text, data from sluice_jobs.job')).toEqual([
      { name: 'sync', state: 'active', data: syncJob('a') },
    ]);
  });

  it('are reported as lost when their worker died and no run of theirs ended', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    await jobs.enqueue(['died', 'threw', 'ended'].map((sync) => ({ queue: 'sync', data: syncJob(sync) })));
    await sql`update sluice_jobs.job set retry_limit = 0 where name = 'sync'`.execute(warehouse.db);
    const never = Promise.withResolvers<JobOutcome>();
    onTestFinished(() => never.resolve({ as: 'done' }));
    await jobs.work('sync', 3, async ({ data, saveData }) => {
      if (data.sync === 'threw') return { as: 'failed', because: 'a fault\nwith a stack' };
      if (data.kind === 'sync') await saveData({ ...data, since: '' });
      return never.promise;
    });
    const lost = async () => (await lostJobs(warehouse)).map(({ job }) => job.sync).toSorted();
    const lostInSilence = async () => {
      // The time starts again with each heartbeat: their worker is alive.
      await sql`update sluice_jobs.job set heartbeat_on = clock_timestamp() - interval '1 hour'
        where name = 'sync' and state = 'active' and data ? 'since'`.execute(warehouse.db);
      return lost();
    };
    await expect.poll(lostInSilence, { timeout: 30_000 }).toEqual(['died', 'ended']);
    const reasons = (await readEngineStatus(warehouse))?.givenUp.map(({ sync, because }) => [sync, because]);
    expect(Object.fromEntries(reasons ?? [])).toEqual({ died: WORKER_DIED, ended: WORKER_DIED, threw: 'a fault' });

    await sql`insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at)
      values ('ended', 'pronet.group', '', 'complete', 0, '2026-01-01', '2026-01-01', '2026-01-01'),
        ('died', 'pronet.group', '', 'running', null, '2026-01-01', '2026-01-01', null)`.execute(warehouse.db);
    expect(await lost()).toEqual(['died']);
  });
});

anyWarehouse('the jobs of workers', (open) => {
  it('reach the next worker with the data that the last one stored in them', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    await jobs.enqueue([{ queue: 'sync', data: syncJob('a') }]);
    const got: JobData[] = [];
    const twice = Promise.withResolvers<void>();
    await jobs.work('sync', 1, async ({ data, saveData }) => {
      got.push(data);
      if (got.length === 2) {
        twice.resolve();
        return { as: 'done' };
      }
      await saveData({ ...data, tries: 2 });
      // As after the death of a worker, but without the wait.
      await sql`update sluice_jobs.job set retry_delay = 0 where name = 'sync'`.execute(warehouse.db);
      return { as: 'failed', because: 'it was killed' };
    });
    await twice.promise;
    expect(got).toEqual([syncJob('a'), syncJob('a', 2)]);
  });

  it('of all runs start with the first chunks before the second ones, and a key is active once', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    const chunk = (runId: string, number: number): JobData => ({ ...CHUNK, runId, chunk: number });
    const giant = [0, 1, 2, 3].map((number) => chunk('1', number));
    const small = [0, 1].map((number) => chunk('2', number));
    await jobs.enqueue([...giant, ...small, ...small].map((data) => ({ queue: 'chunk', data })));
    const order: string[] = [];
    const all = Promise.withResolvers<void>();
    await jobs.work('chunk', 1, async ({ data }) => {
      if (data.kind === 'chunk') order.push(`${data.runId}/${data.chunk}`);
      // One that is at work is not entered a second time.
      await jobs.enqueue([{ queue: 'chunk', data }]);
      if (order.length === 6) all.resolve();
      return { as: 'done' };
    });
    await all.promise;
    expect(order).toEqual(['1/0', '2/0', '1/1', '2/1', '1/2', '1/3']);
    const { rows } = await sql<{ n: string }>`select count(*) as n from sluice_jobs.job where name = 'chunk'
      and state in ('created', 'retry')`.execute(warehouse.db);
    expect(rows).toEqual([{ n: '0' }]);
  });

  it('begin a child when all its parents ended well and none is at it', async () => {
    const warehouse = await open();
    const jobs = await jobsIn(warehouse);
    const { syncs } = await configOf(FAMILY, 'http://127.0.0.1:1');
    const begin = () => warehouse.db.transaction().execute((tx) => childrenToStart(tx, warehouse, syncs, syncJob('a')));
    const run = (sync: string, state: string, exitCode: number, scope = 'null') =>
      select(
        warehouse,
        `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, scope)
         values ('${sync}', 'pronet.group', 'h', '${state}', ${exitCode}, '2026-03-06', now(), ${scope}) returning id`,
      );
    await run('a', 'complete', 0);
    expect(await begin()).toEqual([]);
    await run('b', 'out_of_points', 6);
    expect(await begin()).toEqual([]);
    // A sample is no run of all inputs.
    await run('b', 'partial', 0, `'limited'`);
    expect(await begin()).toEqual([]);
    await run('b', 'partial', 4);
    expect(await begin()).toEqual(['child']);
    await jobs.enqueue([{ queue: 'sync', data: syncJob('b'), afterSeconds: 600 }]);
    expect(await begin()).toEqual([]);
  });
});

anyWarehouse('a child that nobody may have started yet', (open) => {
  it('starts also if it ran by hand before its parent ended, but not if it ran since', async () => {
    const warehouse = await open();
    await jobsIn(warehouse);
    const { syncs } = await configOf(FAMILY, 'http://127.0.0.1:1');
    const begin = () =>
      warehouse.db.transaction().execute((tx) => childrenToStart(tx, warehouse, syncs, syncJob('a'), true));
    const run = (sync: string, startedAt: string, endedAt: string) =>
      select(
        warehouse,
        `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at)
         values ('${sync}', 'pronet.group', 'h', 'complete', 0, '2026-03-06', '2026-03-06T${startedAt}Z', '2026-03-06T${endedAt}Z')
         returning id`,
      );
    await run('b', '09:00:00', '09:10:00');
    await run('a', '10:00:00', '11:00:00');
    await run('child', '10:30:00', '10:40:00');
    expect(await begin()).toEqual(['child']);
    await run('child', '10:59:59.5', '11:10:00');
    expect(await begin()).toEqual([]);
  });
});

/** Open connections of the library; none on the embedded warehouse, whose connection it shares. */
async function connectionsOfJobs({ db }: Warehouse): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
    where application_name = 'pgboss' and datname = current_database()`.execute(db);
  return rows[0]?.n ?? 0;
}

const CHUNK = {
  kind: 'chunk',
  sync: 'a',
  tries: 0,
  token: '1',
  covered: 0,
  lost: [] as string[],
  startedAt: '2026-03-05T12:00:00.000Z',
  continued: false,
} as const;
const group = 'endpoint: pronet.group\n    for_each: { group: ["1"] }';
const FAMILY = `syncs:
  a:
    ${group}
  b:
    ${group}
  child:
    ${group}
    after: [a, b]
  own:
    ${group}
    after: [a]
    schedule: { cron: "0 3 * * *", timezone: UTC }
`;
