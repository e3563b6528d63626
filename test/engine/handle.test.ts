/** What a worker makes of a job that another one had before: the run that it came to is not run once more. */
import { describe, expect, it } from 'vitest';
import { endedBy } from '../../src/cli/engine.ts';
import { type JobData, syncJob } from '../../src/engine/job.ts';
import { acquireLease, releaseLease } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { makeDue } from './due.ts';
import { addJobs, CONFIG, followed, work } from './one-worker.ts';
import { disturbedAt } from '../flow/crash.ts';
import { withStatementSpy } from '../flow/statement-spy.ts';
import { select } from '../flow/rows.ts';
import { type Scene, sceneIn } from '../flow/scene.ts';

const open = postgresWarehouses();
/** A warehouse in which the queues are. */
const withJobs = async (opened = open()): Promise<Scene['warehouse']> => addJobs(await opened);
const child = [{ queue: 'sync', data: syncJob('members') }];

it('a run that ended before its worker could say so is not run again, and its children begin', async () => {
  // Jobs of the engine are looked at for what follows; none is there.
  const scene = await sceneIn(await withJobs(), {});
  const first = await work(scene, syncJob('groups'));
  expect(first.events.map(({ kind }) => kind)).toEqual(['begun', 'run ended']);
  expect(scene.arrived()).toHaveLength(2);
  // Its end was not settled: the job comes again, as it was kept.
  const second = await work(scene, first.kept);
  // The worker may have died before the alerts of its end were recorded.
  const ended = { sync: 'groups', endpoint: 'pronet.group', runId: '1', state: 'complete', exitCode: 0, error: null };
  expect(second.events).toEqual([
    { kind: 'begun', job: first.kept },
    { kind: 'had ended', run: ended },
  ]);
  expect(second.events.map((event) => endedBy(event, { syncs: [] }))).toEqual([undefined, { ...ended, next: null }]);
  expect(scene.arrived()).toHaveLength(0);
  expect(await followed(scene, second.outcome)).toEqual(child);
  // The next firing is a job of its own.
  await work(scene, syncJob('groups'));
  expect(scene.arrived()).toHaveLength(2);
});

describe('a run that ended before its worker could say so is not run again', () => {
  const lost = (): never => {
    throw Object.assign(new Error('the database restarts'), { code: '57P01' });
  };
  const QUESTION = /r\.id \|\| ' '/;

  it('after one loss of the database', async () => {
    const scene = await sceneIn(await withJobs(), {});
    const first = await work(scene, syncJob('groups'));
    scene.arrived();
    const warehouse = disturbedAt(scene.warehouse, { when: 'before', statement: QUESTION, nth: 1 }, lost);
    const second = await work(scene, first.kept, { warehouse });
    expect(await followed(scene, second.outcome)).toEqual(child);
    expect(scene.arrived()).toEqual([]);
  });

  it('after a long loss of the database, or one before its run began', async () => {
    const scene = await sceneIn(await withJobs(), {});
    const first = await work(scene, syncJob('groups'));
    scene.arrived();
    const failingAt = (statement: RegExp) =>
      withStatementSpy(scene.warehouse, { statement: async (text, run) => (statement.test(text) ? lost() : run()) });
    const second = await work(scene, first.kept, { warehouse: failingAt(QUESTION) });
    const [job] = await followed(scene, second.outcome);
    expect(job?.data).toEqual({ ...first.kept, tries: 1 });
    const later = await work(scene, job?.data ?? syncJob('groups'));
    expect(await followed(scene, later.outcome)).toEqual(child);
    // The next firing: its run cannot begin, and another process has run the sync when the job comes again.
    const next = await work(scene, syncJob('groups'), { warehouse: failingAt(/insert into "sluice_ops"."runs"/) });
    expect(next.events).toMatchObject([
      { kind: 'begun' },
      { kind: 'run ended', summary: { exitCode: 5, runId: null } },
      {},
    ]);
    const [held] = await followed(scene, next.outcome);
    await scene.sync(CONFIG, { names: ['groups'] });
    scene.arrived();
    await work(scene, held?.data ?? syncJob('groups'));
    expect(scene.arrived()).toEqual([]);
  });
});

it('a job that another process kept waiting is done when the run of that process ends', async () => {
  const scene = await sceneIn(await withJobs(open()), {});
  const lease = await acquireLease(operationsOf(scene.warehouse), 'sync:groups', 'another', false);
  await select(
    scene.warehouse,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
     values ('groups', 'pronet.group', 'x', 'running', '2026-03-06', now()) returning id`,
  );
  const first = await work(scene, syncJob('groups'));
  const [job] = await followed(scene, first.outcome);
  expect(job?.data).toEqual({ ...syncJob('groups'), since: '1 ' });
  await select(scene.warehouse, `update sluice_ops.runs set state = 'complete', exit_code = 0, ended_at = now()`);
  await releaseLease(operationsOf(scene.warehouse), lease);
  const second = await work(scene, job?.data ?? syncJob('groups'));
  expect(scene.arrived()).toEqual([]);
  expect(await followed(scene, second.outcome)).toEqual(child);
});

it('a job waits for a parent that a plain sync of another process runs', async () => {
  const scene = await sceneIn(await withJobs(open()), {});
  const lease = await acquireLease(operationsOf(scene.warehouse), 'sync:groups', 'another', false);
  const first = await work(scene, syncJob('members'));
  expect(first.events).toMatchObject([
    { kind: 'begun' },
    { kind: 'waits', sync: 'members', because: 'groups not done', seconds: 15 },
  ]);
  expect(scene.arrived()).toEqual([]);
  const [job] = await followed(scene, first.outcome);
  expect(job).toEqual({
    queue: 'sync',
    data: { ...syncJob('members'), since: '', waited: true },
    afterSeconds: 15,
  });
  // Its process died: the lease expires, and is left behind.
  await select(scene.warehouse, `update sluice_ops.leases set expires_at = now() - interval '1 s' returning name`);
  await work(scene, job?.data ?? syncJob('members'));
  expect(scene.arrived()).toHaveLength(1);
  await releaseLease(operationsOf(scene.warehouse), lease);
});

it('a job waits for a parent whose schedule is due, while a scheduler lives that will fire it', async () => {
  const scene = await sceneIn(await withJobs(open()), {});
  await makeDue(scene.warehouse, { syncs: [{ name: 'groups', schedule: { cron: '0 3 * * *', timezone: 'UTC' } }] });
  const ops = operationsOf(scene.warehouse);
  const scheduler = await acquireLease(ops, 'role:schedule:host/1', 'role:schedule:host/1', false);
  const first = await work(scene, syncJob('members'));
  expect(first.events).toMatchObject([{ kind: 'begun' }, { kind: 'waits', because: 'groups not done' }]);
  await releaseLease(ops, scheduler);
  await work(scene, syncJob('members'));
  expect(scene.arrived()).toHaveLength(1);
});

it('a job that waits for its parent is done when another process runs the sync after the parent, not before', async () => {
  const scene = await sceneIn(await withJobs(open()), {});
  const ops = operationsOf(scene.warehouse);
  await scene.sync(CONFIG, { names: ['members'] });
  let lease = await acquireLease(ops, 'sync:groups', 'another', false);
  const waiting = async (job: JobData): Promise<JobData> => {
    const { outcome, events } = await work(scene, job);
    expect(events).toMatchObject([{ kind: 'begun' }, { kind: 'waits', because: 'groups not done' }]);
    return (await followed(scene, outcome))[0]?.data ?? job;
  };
  let job = await waiting(syncJob('members'));
  // This run began before the parent was done, and lacks its rows.
  await scene.sync(CONFIG, { names: ['members'] });
  job = await waiting(job);
  await releaseLease(ops, lease);
  scene.arrived();
  await work(scene, job);
  expect(scene.arrived()).toHaveLength(1);
  lease = await acquireLease(ops, 'sync:groups', 'another', false);
  job = await waiting(syncJob('members'));
  await releaseLease(ops, lease);
  await scene.sync(CONFIG, { names: ['members'] });
  scene.arrived();
  await work(scene, job);
  expect(scene.arrived()).toEqual([]);
});

it('a run that its worker did not finish is continued', async () => {
  const scene = await sceneIn(await withJobs(), {});
  const first = await work(scene, syncJob('groups'));
  expect(scene.arrived()).toHaveLength(2);
  await select(scene.warehouse, `update sluice_ops.runs set state = 'running', exit_code = null, ended_at = null`);
  const second = await work(scene, first.kept);
  expect(second.events).toMatchObject([{ kind: 'begun' }, { kind: 'run ended', summary: { continued: true } }]);
  expect(scene.arrived()).toHaveLength(0);
});

it('a run that its worker did not finish is continued, also after a sample of the sync', async () => {
  const scene = await sceneIn(await withJobs(), {});
  const first = await work(scene, syncJob('groups'));
  await select(scene.warehouse, `update sluice_ops.runs set state = 'running', exit_code = null, ended_at = null`);
  await select(
    scene.warehouse,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, scope)
     values ('groups', 'pronet.group', 'sample', 'partial', 0, '2026-03-06', now(), now(), 'limited') returning id`,
  );
  const second = await work(scene, first.kept);
  expect(second.events).toMatchObject([{ kind: 'begun' }, { kind: 'run ended', summary: { continued: true } }]);
});

it('the children of a run that the worker of its last chunk concluded start once', async () => {
  const scene = await sceneIn(await withJobs(), {});
  const first = await work(scene, syncJob('groups'));
  await select(
    scene.warehouse,
    `insert into sluice_ops.chunks (run_id, number, state, requests) select id, 0, 'concluded', 2 from sluice_ops.runs`,
  );
  const second = await work(scene, first.kept);
  expect(second.events.map(({ kind }) => kind)).toEqual(['begun']);
  // As long as this job was not settled, its sync was busy for that worker.
  expect(await followed(scene, second.outcome)).toEqual(child);
  await work(scene, syncJob('members'));
  expect(await followed(scene, second.outcome)).toEqual([]);
});

it('the children of a run that another process concluded before the job of a chunk was settled start once', async () => {
  const scene = await sceneIn(await withJobs(), {});
  await work(scene, syncJob('groups'));
  const [run] = await select<{ id: string }>(
    scene.warehouse,
    `with ended as (select id from sluice_ops.runs), cut as (insert into sluice_ops.chunks (run_id, number, state, requests)
      select id, number, state, 1 from ended, (values (0, 'ended'), (1, 'concluded')) as c(number, state))
    select id::text from ended`,
  );
  const chunk = { kind: 'chunk', sync: 'groups', tries: 0, runId: run?.id ?? '', chunk: 0, token: '1' } as const;
  const again = await work(scene, {
    ...chunk,
    covered: 0,
    lost: [],
    startedAt: '2026-03-05T12:00:00.000Z',
    continued: false,
  });
  // Its worker died between the end of the chunk and its job's own: who concluded the run saw the sync busy.
  expect(await followed(scene, again.outcome)).toEqual(child);
  await work(scene, syncJob('members'));
  expect(await followed(scene, again.outcome)).toEqual([]);
});

it('a chunk of a run under another definition waits, after a minute beside a job that takes the run over and never repeats it', async () => {
  const scene = await sceneIn(await withJobs(), {});
  await work(scene, syncJob('groups'));
  const runs = (change: string) => select(scene.warehouse, `update sluice_ops.runs set ${change} returning id`);
  await runs("state = 'running', exit_code = null, ended_at = null");
  await select(
    scene.warehouse,
    `with cut as (insert into sluice_ops.chunks (run_id, number, state, requests) select id, 0, 'open', 2 from sluice_ops.runs)
    update sluice_ops.leases set token = 1 returning name`,
  );
  const chunk = {
    kind: 'chunk',
    sync: 'groups',
    tries: 0,
    runId: '1',
    chunk: 0,
    token: '1',
    covered: 0,
    lost: [],
    startedAt: '2026-03-05T12:00:00.000Z',
    continued: false,
  };
  scene.arrived();
  const config = CONFIG.replace('"1001", ', '');
  const next = async (idleSeconds: number) => {
    await select(
      scene.warehouse,
      `update sluice_ops.leases set expires_at = clock_timestamp() - interval '${idleSeconds} seconds' returning name`,
    );
    return followed(scene, (await work(scene, chunk as JobData, { config })).outcome);
  };
  const sync = { ...syncJob('groups'), since: '1 ' };
  const again = { queue: 'chunk', data: chunk, afterSeconds: 5 };
  // A worker with the config of the run may just not have found its chunk.
  expect(await next(-10)).toEqual([again]);
  expect(await next(55)).toEqual([again]);
  expect(await next(65)).toEqual([again, { queue: 'sync', data: sync, afterSeconds: 5 }]);
  // A worker with the old config ends the run meanwhile.
  await runs("state = 'complete', exit_code = 0, ended_at = now()");
  const after = await work(scene, sync, { config });
  expect(scene.arrived()).toEqual([]);
  expect(await followed(scene, after.outcome)).toEqual(child);
});

describe('a job whose run was interrupted', () => {
  const withService = async (opened = open()) => {
    const service = { isAway: true };
    const respond = () => (service.isAway ? { status: 503, body: { detail: 'away' } } : undefined);
    return { service, scene: await sceneIn(await withJobs(opened), { respond }) };
  };
  /** The service is back, and the run ends before the job comes again. */
  const completedBySync = async ({ service, scene }: Awaited<ReturnType<typeof withService>>): Promise<void> => {
    service.isAway = false;
    scene.clock.advance(60_000);
    const { syncs } = await scene.sync(CONFIG, { names: ['groups'] });
    expect(syncs).toMatchObject([{ state: 'complete', continued: true }]);
    scene.arrived();
  };
  const nextOf = async (scene: Scene, { outcome }: Pick<Awaited<ReturnType<typeof work>>, 'outcome'>) => {
    const [next] = await followed(scene, outcome);
    return next?.data ?? syncJob('groups');
  };

  it('is tried again, and does not count as done', async () => {
    const { service, scene } = await withService();
    const first = await work(scene, { ...syncJob('groups'), since: '' });
    const job = await nextOf(scene, first);
    expect(job).toEqual({ ...syncJob('groups', 1), since: expect.stringMatching(/^1 \d/) });
    service.isAway = false;
    const second = await work(scene, job);
    expect(second.events).toMatchObject([{ kind: 'begun' }, { kind: 'run ended', summary: { continued: true } }]);
    expect(await followed(scene, second.outcome)).toEqual(child);
  });

  it('is done when another process completed the run', async () => {
    const { service, scene } = await withService();
    const job = await nextOf(scene, await work(scene, syncJob('groups')));
    await completedBySync({ service, scene });
    const second = await work(scene, job);
    expect(scene.arrived()).toEqual([]);
    expect(await followed(scene, second.outcome)).toEqual(child);
  });

  it('is done when another process completed the run that a signal stopped', async () => {
    const stop = new AbortController();
    const respond = () => {
      stop.abort(new Error('SIGTERM'));
      return undefined;
    };
    const scene = await sceneIn(await withJobs(), { respond });
    const job = await nextOf(scene, await work(scene, syncJob('groups'), { signal: stop.signal }));
    expect(scene.arrived()).toHaveLength(1);
    await completedBySync({ service: { isAway: false }, scene });
    const second = await work(scene, job);
    expect(scene.arrived()).toEqual([]);
    expect(await followed(scene, second.outcome)).toEqual(child);
  });

  it('continues the run of chunks that it waits for, also when another process tried in vain', async () => {
    const { service, scene } = await withService();
    await work(scene, syncJob('groups'));
    await select(
      scene.warehouse,
      `insert into sluice_ops.chunks (run_id, number, state, requests) select id, 0, 'concluded', 2 from sluice_ops.runs`,
    );
    const chunk = { kind: 'chunk', sync: 'groups', tries: 0, runId: '1', chunk: 0, token: '1' } as const;
    const rest = { covered: 0, lost: [], startedAt: '2026-03-05T12:00:00.000Z', continued: false };
    const concluded = await work(scene, { ...chunk, ...rest });
    const job = await nextOf(scene, concluded);
    expect(job).toEqual({ ...syncJob('groups', 1), since: expect.stringMatching(/^1 \d/) });
    scene.clock.advance(60_000);
    await scene.sync(CONFIG, { names: ['groups'] });
    const again = await nextOf(scene, await work(scene, job));
    expect(again).toMatchObject({ kind: 'sync', tries: 2 });
    service.isAway = false;
    const last = await work(scene, again);
    expect(last.events).toMatchObject([{ kind: 'begun' }, { kind: 'run ended', summary: { continued: true } }]);
  });
});

describe('a run that only lists a lost answer (in_doubt: stop)', () => {
  const config = CONFIG.replace('pronet.group', 'pronet.group\n    in_doubt: stop');
  const faults = [{ on: { endpoint: 'pronet.group', nth: 2 }, do: { kind: 'cut', afterBytes: 40 } } as const];
  const over = [{ kind: 'begun' }, { kind: 'run ended', summary: { exitCode: 5, state: 'partial', inDoubt: 1 } }];

  it('is over: no job buys the sync again, also if its worker died before it settled the job', async () => {
    const scene = await sceneIn(await withJobs(), { faults });
    const first = await work(scene, syncJob('groups'), { config });
    expect(first.events).toMatchObject(over);
    expect(await followed(scene, first.outcome)).toEqual([]);
    const second = await work(scene, first.kept, { config });
    expect(await followed(scene, second.outcome)).toEqual([]);
    expect(scene.arrived()).toHaveLength(2);
    // The next firing is a job of its own.
    const next = await work(scene, syncJob('groups'), { config });
    expect(next.events).toMatchObject([
      { kind: 'begun' },
      { kind: 'run ended', summary: { exitCode: 0, continued: false } },
    ]);
    expect(scene.arrived()).toHaveLength(2);
  });

  it('is over if a signal came during its last request', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await withJobs(), {
      faults,
      respond: ({ number }) => {
        if (number === 2) stop.abort(new Error('SIGTERM'));
        return undefined;
      },
    });
    const { events, outcome } = await work(scene, syncJob('groups'), { config, signal: stop.signal });
    expect(events).toMatchObject(over);
    expect(await followed(scene, outcome)).toEqual([]);
  });

  it('is over if the worker of its last chunk died before its job was settled', async () => {
    const scene = await sceneIn(await withJobs(), { faults });
    await work(scene, syncJob('groups'), { config });
    const [run] = await select<{ id: string }>(
      scene.warehouse,
      `with ended as (select id from sluice_ops.runs), cut as (insert into sluice_ops.chunks (run_id, number, state, requests)
        select id, 0, 'concluded', 2 from ended)
      select id::text from ended`,
    );
    const chunk = { kind: 'chunk', sync: 'groups', tries: 0, runId: run?.id ?? '', chunk: 0, token: '1' } as const;
    const { events, outcome } = await work(
      scene,
      { ...chunk, covered: 0, lost: [], startedAt: '2026-03-05T12:00:00.000Z', continued: false },
      { config },
    );
    expect(events).toMatchObject([
      { kind: 'begun' },
      { kind: 'had ended', run: { runId: run?.id, exitCode: 5, state: 'partial' } },
    ]);
    expect(await followed(scene, outcome)).toEqual([]);
  });
});
