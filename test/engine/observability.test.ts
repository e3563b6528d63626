/** What the long-running roles report: health, metrics, alerts and `status`, of real processes over real sockets. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { inject, it, expect } from 'vitest';
import { syncJob } from '../../src/engine/job.ts';
import { catalog } from '../../src/service/catalog.ts';
import { metrics } from '../../src/monitor/metrics.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { openHooks } from '../alerts/hooks.ts';
import { runInProcess } from '../cli/in-process.ts';
import { problemsOf } from '../cli/output-schema.ts';
import { type Ran, start, temporaryFolder } from '../cli/program-run.ts';
import { SMALL } from '../flow/scene.ts';
import { readExposition } from '../monitor/exposition-text.ts';
import { execute, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { jobsOf, makeDue, TWICE_A_DAY } from './due.ts';

const DUE = `schedule: { cron: "${TWICE_A_DAY}", timezone: UTC }`;
const CONFIG = `
budget: { keep: 5, per_month: 100000 }
alerts: { webhook: "\${HOOK}", command: [${JSON.stringify(process.execPath)}, notify.mjs], quarantine: 1, forecast: 9999d }
syncs:
  good: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] }, ${DUE} }
  odd: { endpoint: microblog.user, for_each: { user: [ada, bob] }, ${DUE} }
  refused: { endpoint: webparser.parse, request: { url: "https://site-1.example/" }, ${DUE} }
  poor: { endpoint: photoshare.user, request: { user: ada }, ${DUE} }
  costs: { endpoint: token.requests }
  lost: { endpoint: pronet.group, for_each: { group: ["1003"] } }
`;
const SYNCS = ['good', 'odd', 'refused', 'poor', 'costs', 'lost'];
const NOTIFY = `import { appendFileSync, readFileSync } from 'node:fs';
const { kind, state, sync } = JSON.parse(readFileSync(0, 'utf8'));
appendFileSync('alerts', [kind, state, sync].join(' ') + '\\n');`;

/** An answer whose text would show in a metric that has an input as its label. */
const CANARY = 'canary-input';

it('the roles report their health and the results of their runs, and send each alert once', {
  timeout: 400_000,
}, async () => {
  const folder = await temporaryFolder();
  const hooks = await openHooks();
  const database = await freshDatabase(await postgresTemplate());
  const service = { isMended: false, held: undefined as Promise<void> | undefined };
  const respond = async ({ endpoint }: RespondRequest): Promise<Responded | undefined> => {
    if (endpoint === 'microblog.user') return { body: [{ name: CANARY }] };
    if (endpoint === 'photoshare.user') return { status: 402, body: { detail: 'Points limit exhausted' } };
    if (endpoint !== 'webparser.parse') return undefined;
    await service.held;
    return service.isMended ? undefined : { status: 401, body: { detail: `bad token ${CANARY}` } };
  };
  const call = Promise.withResolvers<void>();
  const sandbox = await serveSandbox({ size: SMALL, points: 1000, respond });
  const env = {
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: database.url,
    HOOK: hooks.url,
    HOME: folder.path,
  };
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(file, CONFIG);
  await writeFile(join(folder.path, 'notify.mjs'), NOTIFY);
  const here = (...words: string[]): Promise<Ran> => runInProcess([...words, '--config', file], { env });
  const role = async (name: 'schedule' | 'worker') => {
    const running = start([name, '--json', '--listen', '127.0.0.1:0'], { cwd: folder.path, env });
    const said = await running.said('err', `${name} is ready`);
    const url = /"health":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(said)?.[1] ?? '';
    const ask = async (path: string) => {
      const answer = await fetch(`${url}${path}`);
      return { status: answer.status, body: await answer.text() };
    };
    return { ...running, ask };
  };
  const warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  const started: Awaited<ReturnType<typeof role>>[] = [];
  try {
    await makeDue(warehouse, await loadConfig(file, env));
    const jobs = await jobsOf(warehouse);
    await jobs.enqueue([{ queue: 'dead', data: syncJob('lost') }]);
    await jobs.close();
    // An alert that is over by now.
    await execute(
      database.url,
      `insert into sluice_ops.alerts (sync, kind, state, since, because) values ('(budget.per_month forecast)', 'budget', 'raised', now(), '')`,
    );
    const worker = await role('worker');
    started.push(worker);
    const schedule = await role('schedule');
    started.push(schedule);
    expect((await schedule.ask('/readyz')).status).toBe(200);

    // The due syncs end in each of the ways; the request log is read when the others are done.
    const alerts = (): unknown[] =>
      hooks.taken
        .map(({ body }) => body as { kind: string; state: string; sync: string | null })
        .map(({ kind, state, sync }) => `${kind} ${state} ${sync ?? ''}`)
        .toSorted();
    const first = [
      'access raised refused',
      'contract raised odd',
      'failed raised lost',
      'failed raised refused',
      'out_of_points raised poor',
      'partial raised odd',
      'quarantine raised odd',
    ];
    await expect.poll(alerts, SOON).toEqual(first);
    const commanded = async (): Promise<string[]> =>
      (await readFile(join(folder.path, 'alerts'), 'utf8')).trimEnd().split('\n').toSorted();
    await expect.poll(commanded, SOON).toEqual(first);
    const { rows } = await sql<{
      because: string;
    }>`select because from sluice_ops.alerts where kind = 'budget'`.execute(warehouse.db);
    expect(rows).toEqual([{ because: expect.stringMatching(/^by the forecast of the schedules, \d+ of the 100000 /) }]);

    const metricsRead = async () => readExposition((await schedule.ask('/metrics')).body);
    // A job is over a moment after its run, and not every run has an alert to wait for.
    const standing = async () => {
      const { samples } = await metricsRead();
      const value = (name: string, labels: Readonly<Record<string, string>> = {}) =>
        samples.find((it) => it.name === name && JSON.stringify(it.labels) === JSON.stringify(labels))?.value;
      return {
        success: value('sluice_sync_last_success_timestamp_seconds', { sync: 'good' }),
        exits: ['good', 'odd', 'refused', 'poor'].map((sync) => value('sluice_sync_last_exit_code', { sync })),
        loaded: value('sluice_requests', { endpoint: 'pronet.group', outcome: 'loaded' }),
        spent: value('sluice_points_spent', { endpoint: 'pronet.group' }),
        rows: value('sluice_table_rows', { table: 'pronet_groups' }),
        quarantine: value('sluice_quarantine_open', { sync: 'odd' }),
        doubt: value('sluice_requests_in_doubt', { sync: 'good' }),
        dead: value('sluice_queue_jobs', { queue: 'dead', state: 'waiting' }),
        atWork: value('sluice_queue_jobs', { queue: 'sync', state: 'at_work' }),
        took: value('sluice_run_duration_seconds_count', { sync: 'good' }),
        up: value('sluice_warehouse_up'),
      };
    };
    await expect.poll(standing, SOON).toEqual({
      success: expect.any(Number),
      exits: [0, 4, 3, 6],
      loaded: 2,
      spent: 2,
      rows: 2,
      quarantine: 2,
      doubt: 0,
      dead: 2,
      atWork: 0,
      took: 1,
      up: 1,
    });
    const read = await metricsRead();
    expect(Object.keys(metrics).filter((name) => !read.types.has(name))).toEqual([]);
    const labels = read.samples
      .filter(({ name }) => name.startsWith('sluice_'))
      .flatMap((it) => Object.entries(it.labels));
    const among = { sync: SYNCS, endpoint: catalog.map(({ name }) => name), table: tables.map(({ name }) => name) };
    for (const [label, names] of Object.entries(among))
      expect(names).toEqual(expect.arrayContaining(labels.flatMap(([name, it]) => (name === label ? [it] : []))));
    expect(JSON.stringify(labels)).not.toContain('canary');

    const status = JSON.parse((await here('status', '--json')).out) as { engine: unknown };
    expect(problemsOf('status', status)).toEqual([]);
    expect(status.engine).toMatchObject({
      workers: [{ role: 'worker' }, { role: 'schedule' }],
      queues: [
        { queue: 'sync', waiting: 0, later: 0, atWork: 0 },
        { queue: 'chunk', waiting: 0, later: 0, atWork: 0 },
      ],
      schedules: ['good', 'odd', 'poor', 'refused'].map((sync) => ({ sync, timezone: 'UTC' })),
      givenUp: [
        { sync: 'refused', exitCode: 3 },
        { sync: 'lost', exitCode: null },
      ],
    });

    // The same error again raises no further alert.
    expect((await here('schedule', '--redrive', 'refused')).out).toBe('1 job requeued: refused\n');
    await expect.poll(() => pages(sandbox.requests()), SOON).toBe(2);
    await expect
      .poll(async () => (await here('status')).out, SOON)
      .toMatch(/given up .* ago: refused: .*\ngiven up .* ago: lost: .*\nnext: .*--redrive/);

    await warehouse.close();
    // A database that stops and starts again.
    const name = new URL(database.url).pathname.slice(1);
    await execute(inject('postgresUrl'), `alter database ${name} with allow_connections false`);
    await execute(
      inject('postgresUrl'),
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    for (const it of started) {
      await expect
        .poll(() => it.ask('/readyz'), SOON)
        .toEqual({ status: 503, body: '{"ready":false,"because":["the warehouse does not answer"]}\n' });
      expect((await it.ask('/healthz')).status).toBe(200);
      await expect.poll(async () => (await it.ask('/metrics')).body, SOON).toContain('\nsluice_warehouse_up 0\n');
    }
    await execute(inject('postgresUrl'), `alter database ${name} with allow_connections true`);
    for (const it of started) await expect.poll(async () => (await it.ask('/readyz')).status, SOON).toBe(200);

    // One process ends without work; the other is stopped during a call, for which it waits.
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(143);
    service.held = call.promise;
    service.isMended = true;
    await here('schedule', '--redrive', 'refused');
    await expect.poll(() => pages(sandbox.requests()), SOON).toBe(3);
    expect(JSON.parse((await here('status', '--json')).out)).toMatchObject({
      engine: {
        workers: [{ role: 'schedule' }],
        queues: [{ queue: 'sync', atWork: 1 }, {}],
        givenUp: [{ sync: 'lost' }],
      },
    });
    schedule.child.kill('SIGTERM');
    await expect
      .poll(() => schedule.ask('/readyz'), SOON)
      .toEqual({ status: 503, body: '{"ready":false,"because":["the process is ending"]}\n' });
    expect((await schedule.ask('/healthz')).status).toBe(200);
    call.resolve();
    const ended = await schedule.ended;
    expect(ended.code).toBe(143);
    const later = [...first, 'access cleared refused', 'failed cleared refused'];
    expect(alerts()).toEqual(later.toSorted());
    const runs = (ended.out + (await worker.ended).out).trimEnd().split('\n');
    expect(runs.length).toBeGreaterThan(4);
    expect(runs.flatMap((line) => problemsOf('run', JSON.parse(line)))).toEqual([]);
    expect(ended.err + (await worker.ended).err).not.toContain(SANDBOX_TOKEN);

    // The next reading of the log shows points left, and they run out.
    expect((await here('sync', 'costs', '--quiet')).code).toBe(0);
    expect(alerts()).toEqual([...later, 'forecast raised '].toSorted());
  } finally {
    call.resolve();
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map((it) => it.ended));
    await sandbox.close();
    await hooks.close();
    await database.drop();
    await folder.remove();
  }
});

/** Other tests run at the same time. */
const SOON = { timeout: 100_000, interval: 250 };
const pages = (requests: readonly { readonly endpoint?: string | undefined }[]): number =>
  requests.filter(({ endpoint }) => endpoint === 'webparser.parse').length;
