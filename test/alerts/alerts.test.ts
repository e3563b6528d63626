import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { channelsOf } from '../../src/alerts/channels.ts';
import { forecastCondition, quarantineConditions, runConditions } from '../../src/alerts/conditions.ts';
import { type AlertPayload, payloadOf, testPayload } from '../../src/alerts/payload.ts';
import { openAlertSender } from '../../src/alerts/sender.ts';
import { type AlertConfig, sendAlerts, type AlertEffects } from '../../src/alerts/send-alerts.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import type { AlertSettings } from '../../src/config/definition.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { listAlerts } from '../../src/alerts/store.ts';
import { createRedactor } from '../../src/telemetry/redact-secrets.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { emptySummary } from '../../src/flow/run/failed-summary.ts';
import type { SyncSummary } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse, realEffects } from '../support/warehouse.ts';
import { CANARY, type Hooks, openHooks } from './hooks.ts';

const NOW = new Date('2026-03-04T12:00:00Z');
const LATER = new Date('2026-03-04T13:00:00Z');

const ended = (more: Partial<SyncSummary>): SyncSummary => ({
  ...emptySummary({ name: 'pages', endpoint: { name: 'webparser.parse' } }),
  runId: '7',
  state: 'complete',
  exitCode: 0,
  tookMs: 1,
  error: null,
  next: null,
  ...more,
});
const FAILED = ended({ state: 'failed', exitCode: 5, error: 'the service is away', next: 'Run it again.' });

describe('of the end of a run', () => {
  const raised = (it: SyncSummary): string[] =>
    runConditions([it]).flatMap(({ kind, isRaised }) => (isRaised ? [kind] : []));

  it.each([
    ['complete', ended({}), []],
    ['partial within what is accepted', ended({ state: 'partial' }), []],
    ['with too many rejects', ended({ state: 'partial', exitCode: 4, error: 'x' }), ['partial']],
    ['complete, with failed checks, which have an alert of their own', ended({ exitCode: 4, error: 'x' }), []],
    ['with what stays in doubt', ended({ state: 'partial', exitCode: 5 }), ['partial']],
    ['out of points', ended({ state: 'out_of_points', exitCode: 6 }), ['out_of_points']],
    ['with the token refused', ended({ state: 'interrupted', exitCode: 3 }), ['failed']],
    ['in a service’s trouble', ended({ state: 'interrupted', exitCode: 5 }), ['failed']],
    ['before it began, by its own fault', ended({ state: 'failed', exitCode: 5, runId: null }), ['failed']],
  ])('%s', (_how, summary, kinds) => {
    expect(raised(summary)).toEqual(kinds);
    expect(runConditions([summary])).toHaveLength(3);
  });

  it.each([
    ['held by another', ended({ state: 'failed', exitCode: 7, runId: null })],
    [
      'not begun, because of another sync',
      ended({ state: 'interrupted', exitCode: 6, runId: null, error: 'not started: x' }),
    ],
    ['stopped by a signal', ended({ state: 'interrupted', exitCode: 5, error: 'stopped by a signal' })],
  ])('no alert is raised when it was %s', (_how, summary) => expect(runConditions([summary])).toEqual([]));
});

const CONFIG: Omit<AlertConfig, 'alerts' | 'budget'> = {
  file: '/sluice.yaml',
  syncs: ['pages', 'costs', 'a', 'b', 'c'].map((name) => ({ name })),
};

const settings = (more: Partial<AlertSettings>): AlertSettings => ({
  webhook: undefined,
  command: undefined,
  on: ALERT_KINDS,
  quarantine: 0,
  forecastMs: 7 * 86_400_000,
  ...more,
});

it('the quarantine is judged by its threshold', () => {
  const of = (open: number) =>
    quarantineConditions([{ sync: 'pages', open }], settings({ quarantine: 3 }))[0]?.isRaised;
  expect([0, 3, 4].map(of)).toEqual([false, false, true]);
});

it('the forecast is judged by the reserve and the time ahead', () => {
  const of = (pointsLeft: number, pointsPerDay: number, keep?: number) =>
    forecastCondition(
      { pointsLeft, pointsPerDay, reportedAt: NOW },
      keep === undefined ? {} : { keep },
      settings({}),
      NOW,
    );
  expect(of(1000, 100)).toMatchObject({ isRaised: false, sync: '(all)' });
  expect(of(700, 100)).toMatchObject({
    isRaised: true,
    because: expect.stringContaining('on 2026-03-11 none are left') as string,
  });
  expect(of(1000, 100, 300).isRaised).toBe(true);
  expect(of(1000, 100, 299).isRaised).toBe(false);
  expect(of(300, 0, 300)).toMatchObject({
    isRaised: true,
    because: expect.stringContaining('budget.keep, 300') as string,
  });
  expect(of(301, 0, 300).isRaised).toBe(false);
});

let hooks: Hooks;
let folder: string;
beforeEach(async () => {
  hooks = await openHooks();
  folder = await mkdtemp(join(tmpdir(), 'sluice-alerts-'));
});
afterEach(async () => {
  await hooks.close();
  await rm(folder, { recursive: true });
});

/** A program that appends what it reads to a file, with its words and its environment. */
async function program(body = ''): Promise<string[]> {
  const path = join(folder, 'notify.mjs');
  await writeFile(
    path,
    `import { appendFileSync, readFileSync } from 'node:fs';
     ${body}
     const payload = JSON.parse(readFileSync(0, 'utf8'));
     appendFileSync(${JSON.stringify(join(folder, 'delivered'))}, JSON.stringify({ payload, words: process.argv.slice(2), env: process.env }) + '\\n');`,
  );
  return [process.execPath, path, 'first word', '$HOME; touch x'];
}
const delivered = async (): Promise<{ payload: AlertPayload; words: string[]; env: Record<string, string> }[]> =>
  (await readFile(join(folder, 'delivered'), 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as never);

const notices: string[] = [];
beforeEach(() => void notices.splice(0));
const effects = (more: Partial<AlertEffects> = {}): AlertEffects => ({
  now: () => NOW,
  sleep: realEffects.sleep,
  env: { PATH: process.env['PATH'], KEPT: 'kept', SECRET_URL: hooks.url },
  redact: createRedactor([hooks.url]).redact,
  onNotice: ({ message }) => notices.push(message),
  ...more,
});

eachWarehouse('alerts', (openWarehouse) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await openWarehouse();
  });
  beforeEach(async () => {
    for (const table of ['alerts', 'quarantine'])
      await sql`delete from ${sql.id(warehouse.ops, table)}`.execute(warehouse.db);
  });

  const tell = (
    syncs: readonly SyncSummary[],
    more: Partial<AlertSettings> = {},
    with_: Partial<AlertEffects> = {},
    config: Partial<AlertConfig> = {},
  ) =>
    sendAlerts(
      { ...CONFIG, ...config, alerts: settings({ webhook: new Secret(hooks.url), ...more }), budget: { keep: 100 } },
      warehouse,
      { syncs },
      effects(with_),
    );
  const kinds = (): unknown[] =>
    hooks.taken.map(({ body }) => [(body as AlertPayload).kind, (body as AlertPayload).state]);

  it('are sent once when raised and once when cleared, also when the reason changes', async () => {
    await tell([FAILED]);
    await tell([{ ...FAILED, error: 'still away' }]);
    expect(hooks.taken).toHaveLength(1);
    expect(hooks.taken[0]).toMatchObject({
      method: 'POST',
      path: `/services/${CANARY}?token=${CANARY}`,
      headers: { 'content-type': 'application/json' },
      body: {
        v: 1,
        kind: 'failed',
        state: 'raised',
        sync: 'pages',
        since: NOW.toISOString(),
        because: 'the service is away',
        next: 'Run it again.',
        run_id: '7',
        text: 'sluice: pages: failed: the service is away. Run it again.',
      },
    });
    await tell([ended({})], {}, { now: () => LATER });
    await tell([ended({})], {}, { now: () => LATER });
    expect(kinds()).toEqual([
      ['failed', 'raised'],
      ['failed', 'cleared'],
    ]);
    expect(hooks.taken[1]?.body).toMatchObject({
      since: LATER.toISOString(),
      next: null,
      because: 'its newest run ended complete',
    });
    await tell([FAILED]);
    expect(kinds()).toHaveLength(3);
    expect(notices).toEqual([]);
  });

  it('nothing is sent about a condition that never held', async () => {
    await tell([ended({})]);
    expect(hooks.taken).toEqual([]);
    expect(await listAlerts(operationsOf(warehouse), 'all')).toEqual([]);
  });

  it('one kind of end takes the place of another', async () => {
    await tell([FAILED]);
    await tell([ended({ state: 'out_of_points', exitCode: 6, error: 'none left' })], {}, { now: () => LATER });
    expect(kinds().toSorted()).toEqual([
      ['failed', 'cleared'],
      ['failed', 'raised'],
      ['out_of_points', 'raised'],
    ]);
  });

  it('a run of a part raises an alert and clears none', async () => {
    const ids: string[] = [];
    for (const scope of ['range', 'failed', null]) {
      const { rows } = await sql<{ id: string }>`
        insert into ${sql.id(warehouse.ops, 'runs')} (sync, endpoint, definition_hash, state, today, started_at, scope)
        values ('pages', 'webparser.parse', 'h', 'complete', '2026-03-04', now(), ${scope}) returning id`.execute(
        warehouse.db,
      );
      ids.push(...rows.map(({ id }) => id));
    }
    const [range = null, failed = null, complete = null] = ids;
    await tell([{ ...FAILED, runId: range }]);
    await tell([ended({ runId: range })]);
    await tell([ended({ state: 'out_of_points', exitCode: 6, error: 'none left', runId: failed })]);
    await tell([ended({ runId: failed })]);
    expect(kinds()).toEqual([
      ['failed', 'raised'],
      ['out_of_points', 'raised'],
    ]);
    await tell([ended({ runId: complete })], {}, { now: () => LATER });
    expect(kinds().slice(2).toSorted()).toEqual([
      ['failed', 'cleared'],
      ['out_of_points', 'cleared'],
    ]);
  });

  it('of a sync that the config no longer has are cleared by the next run of the config, and not by another config', async () => {
    const names = (...all: string[]) => ({ syncs: all.map((name) => ({ name })) });
    await tell([FAILED]);
    await tell([{ ...FAILED, sync: 'costs' }]);
    await tell([ended({ sync: 'other' })], {}, {}, { file: '/elsewhere.yaml', ...names('other') });
    expect(kinds()).toEqual([
      ['failed', 'raised'],
      ['failed', 'raised'],
    ]);
    await tell([ended({ sync: 'renamed' })], {}, { now: () => LATER }, names('renamed', 'costs'));
    expect(hooks.taken.slice(2).map(({ body }) => body)).toMatchObject([
      { kind: 'failed', state: 'cleared', sync: 'pages', because: 'the config no longer has the sync' },
    ]);
    expect(await listAlerts(operationsOf(warehouse), 'active')).toMatchObject([{ sync: 'costs', kind: 'failed' }]);
  });

  it('only what the config wants is judged', async () => {
    await tell([FAILED], { on: ['partial'] });
    expect(hooks.taken).toEqual([]);
  });

  it('quarantine and forecast are looked up', async () => {
    const db = warehouse.db;
    await sql`insert into ${sql.id(warehouse.ops, 'runs')} (id, sync, endpoint, definition_hash, state, today, started_at)
      overriding system value values (901, 'pages', 'webparser.parse', 'h', 'complete', '2026-03-04', now())`.execute(
      db,
    );
    await sql`insert into ${sql.id(warehouse.ops, 'requests')} (id, run_id, sync, endpoint, request_key, body, input, state, planned_at)
      overriding system value values (901, 901, 'pages', 'webparser.parse', 'a', '{}', '{}', 'loaded', now())`.execute(
      db,
    );
    await sql`insert into ${sql.id(warehouse.ops, 'answers')} (id, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes)
      overriding system value values (901, 901, 901, 'pages', 'webparser.parse', 'a', now(), 1, 200, '{}', '', 'identity', '', 0)`.execute(
      db,
    );
    await sql`insert into ${sql.id(warehouse.ops, 'quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      values (901, 'pages', 'webparser.parse', 'r', 0, '/0', 'x', now())`.execute(db);
    await sql`insert into ${sql.id(warehouse.schema, 'fact_request_costs')}
        (id, token_id, cost, is_paid, points_left, started_at, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      select ('00000000-0000-4000-8000-00000000000' || n)::uuid, '11111111-1111-4111-8111-111111111111', 50, true, 500 - 50 * n,
        ${NOW}::timestamptz - (3 - n) * interval '1 day', now(), now(), 901, 901, '', '{}' from generate_series(1, 3) n`.execute(
      db,
    );
    await sql`insert into ${sql.id(warehouse.ops, 'request_cost_matches')} values (901, '00000000-0000-4000-8000-000000000003', 'identifier', now())`.execute(
      db,
    );
    // Points are looked at where the log was read.
    await tell([ended({})]);
    expect(kinds()).toEqual([['quarantine', 'raised']]);
    await tell([ended({ endpoint: 'token.requests', sync: 'costs' })]);
    expect(kinds()).toEqual([
      ['quarantine', 'raised'],
      ['forecast', 'raised'],
    ]);
    expect(hooks.taken[1]?.body).toMatchObject({
      sync: null,
      because: expect.stringMatching(
        /^350 points were left on 2026-03-04, and 75 a day are spent: on 2026-03-07 .*100/,
      ) as string,
    });
    await tell([ended({})], { quarantine: 1 });
    expect(kinds()[2]).toEqual(['quarantine', 'cleared']);
  });

  it.each<[string, Hooks['answer'], RegExp]>([
    ['fails', (response) => void response.writeHead(500).end('nothing of this'), /answered 500/],
    [
      'redirects',
      (response, url) => void response.writeHead(307, { location: `${url}&again` }).end(),
      /the webhook redirects \(307\)/,
    ],
    ['cuts the connection', (response) => void response.destroy(), /can’t be reached/],
    ['hangs', () => undefined, /did not answer within 10 s/],
    ['hangs in its answer', (response) => void response.writeHead(200).write('{'), /did not answer within 10 s/],
  ])(
    'a webhook that %s is tried again by the next run, and its alert goes nowhere else',
    async (_how, answer, because) => {
      hooks.answer = answer;
      // The wait is over as soon as the webhook was called.
      const sleep: AlertEffects['sleep'] = async (_ms, signal) => {
        await expect.poll(() => hooks.taken.length > 0 && /hangs/.test(_how), { timeout: 20_000 }).toBe(true);
        signal?.throwIfAborted();
      };
      expect(await tell([FAILED], {}, /hangs/.test(_how) ? { sleep } : {})).toEqual({
        isRecorded: true,
        isDelivered: false,
      });
      expect(hooks.taken).toHaveLength(1);
      expect(notices).toEqual([expect.stringMatching(because)]);
      expect(notices.join()).not.toContain(CANARY);
      expect(notices.join()).not.toContain('nothing of this');
      hooks.answer = (response) => void response.end();
      await tell([FAILED]);
      await tell([FAILED]);
      expect(kinds()).toEqual([
        ['failed', 'raised'],
        ['failed', 'raised'],
      ]);
    },
  );

  it('an alert that was cleared before its delivery is not sent', async () => {
    hooks.answer = (response) => void response.writeHead(503).end();
    await tell([FAILED]);
    hooks.answer = (response) => void response.end();
    await tell([ended({})]);
    expect(kinds()).toEqual([['failed', 'raised']]);
  });

  it('an alert that a webhook may have accepted after the time limit is also sent when it is cleared', async () => {
    const late = Promise.withResolvers<void>();
    hooks.answer = (response) => void late.promise.then(() => response.end());
    const sleep = () => expect.poll(() => hooks.taken.length, { timeout: 20_000 }).toBe(1);
    await tell([FAILED], {}, { sleep });
    late.resolve();
    hooks.answer = (response) => void response.writeHead(500).end();
    await tell([FAILED]);
    hooks.answer = (response) => void response.end();
    await tell([ended({})]);
    expect(kinds()).toEqual([
      ['failed', 'raised'],
      ['failed', 'raised'],
      ['failed', 'cleared'],
    ]);
  });

  it('a webhook that refuses one alert gets no others in that run', async () => {
    hooks.answer = (response) => void response.writeHead(500).end();
    await tell(['a', 'b', 'c'].map((sync) => ({ ...FAILED, sync })));
    expect(hooks.taken).toHaveLength(1);
    hooks.answer = (response) => void response.end();
    await tell([ended({ sync: 'd' })]);
    expect(
      hooks.taken
        .slice(1)
        .map(({ body }) => (body as AlertPayload).sync)
        .toSorted(),
    ).toEqual(['a', 'b', 'c']);
  });

  it('of many processes that see the same at once, one sends it', async () => {
    await Promise.all(Array.from({ length: 6 }, () => tell([FAILED])));
    expect(kinds()).toEqual([['failed', 'raised']]);
  });

  it('a command reads them, by itself and beside a webhook that fails', async () => {
    hooks.answer = (response) => void response.writeHead(500).end();
    const command = await program();
    await tell([FAILED], { command });
    hooks.answer = (response) => void response.end();
    await tell([FAILED], { command });
    expect(hooks.taken).toHaveLength(2);
    const [only, ...others] = await delivered();
    expect(others).toEqual([]);
    expect(only?.payload).toEqual(hooks.taken[1]?.body);
    expect(only?.words).toEqual(['first word', '$HOME; touch x']);
    expect(only?.env).toMatchObject({ KEPT: 'kept' });
    expect(JSON.stringify(only)).not.toContain(CANARY);
  });

  it.each([
    ['is not there', ['/nowhere/notify'], /can’t be run \(ENOENT\)/],
    ['fails', [process.execPath, '-e', 'process.exit(3)'], /ended with exit code 3/],
    [
      'reads nothing and is killed',
      [process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")'],
      /ended with SIGKILL/,
    ],
  ])('a command that %s changes nothing but is reported', async (_how, command, because) => {
    await tell([FAILED], { webhook: undefined, command });
    expect(notices).toEqual([expect.stringMatching(because)]);
  });

  it('a command that hangs is ended, with what it started', async () => {
    const marker = join(folder, 'started');
    const child = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
      const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); writeFileSync(${JSON.stringify(marker)}, String(other.pid)); setInterval(() => {}, 1000);`;
    const sleep = async (): Promise<void> => {
      await expect.poll(() => readFile(marker, 'utf8').catch(() => ''), { timeout: 20_000 }).toMatch(/^\d+$/);
    };
    await tell(
      [FAILED],
      { webhook: undefined, command: [process.execPath, '--input-type=module', '-e', child] },
      { sleep },
    );
    expect(notices).toEqual([expect.stringMatching(/did not end within 10 s/)]);
    const pid = Number(await readFile(marker, 'utf8'));
    const isGone = async (): Promise<boolean> =>
      !/^\d+ \(.*\) [^ZX]/s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
    await expect.poll(isGone, { timeout: 20_000 }).toBe(true);
  });

  it('a long-running process sends a failed alert later, without another run', async () => {
    const broken: { ops: string } = { ops: 'nowhere' };
    const place = {
      db: warehouse.db,
      schema: warehouse.schema,
      get ops() {
        return broken.ops;
      },
    };
    const waits: { readonly ms: number; readonly over: () => void }[] = [];
    const sleep: AlertEffects['sleep'] = (ms, signal) =>
      new Promise((resolve, reject) => {
        // Of a call to the webhook, which answers.
        if (ms < 60_000) signal?.addEventListener('abort', () => resolve());
        else {
          waits.push({ ms, over: resolve });
          signal?.addEventListener('abort', () => reject(new Error('ended')));
        }
      });
    const config = { ...CONFIG, alerts: settings({ webhook: new Secret(hooks.url) }), budget: {} };
    const teller = openAlertSender(config, place, effects({ sleep }));
    const nextWait = async (count: number): Promise<void> => {
      await expect.poll(() => waits.length).toBe(count);
      waits.at(-1)?.over();
    };
    teller.report(FAILED);
    // Once for what an earlier process left, and once for this run.
    const failed = expect.stringMatching(/could not be processed/);
    await expect.poll(() => notices).toEqual([failed, failed]);
    broken.ops = warehouse.ops;
    hooks.answer = (response) => void response.writeHead(503).end();
    await nextWait(1);
    await expect.poll(() => hooks.taken.length).toBe(1);
    await expect.poll(() => waits.length).toBe(2);
    hooks.answer = (response) => void response.end();
    await nextWait(2);
    await expect.poll(() => hooks.taken.length).toBe(2);
    await teller.close();
    expect(waits.map(({ ms }) => ms)).toEqual([60_000, 120_000]);
    expect(await listAlerts(operationsOf(warehouse), 'all')).toMatchObject([{ kind: 'failed', webhookAt: NOW }]);
  });

  it('a long-running process delivers at its start what the one before did not', async () => {
    hooks.answer = (response) => void response.writeHead(503).end();
    await tell([FAILED]);
    expect(hooks.taken).toHaveLength(1);
    hooks.answer = (response) => void response.end();
    const config = { ...CONFIG, alerts: settings({ webhook: new Secret(hooks.url) }), budget: {} };
    const teller = openAlertSender(config, warehouse, effects({ now: () => new Date(NOW.getTime() + 120_000) }));
    await expect.poll(() => hooks.taken.length).toBe(2);
    await teller.close();
  });

  it('a warehouse that fails is a notice too', async () => {
    const broken = { ...warehouse, ops: 'nowhere' };
    const config = { ...CONFIG, alerts: settings({ webhook: new Secret(hooks.url) }), budget: {} };
    expect(await sendAlerts(config, broken, { syncs: [FAILED] }, effects())).toEqual({
      isRecorded: false,
      isDelivered: false,
    });
    expect(notices).toEqual([expect.stringMatching(/could not be processed/)]);
  });
});

it.each([
  ['Invalid token', 'Invalid token. Put a valid API token.'],
  ['the service answered 500: oh!', 'the service answered 500: oh! Put a valid API token.'],
  ['It ended.', 'It ended. Put a valid API token.'],
])('reason and next step are two sentences of the text: %j', (because, said) => {
  const alert = { sync: 'pages', kind: 'failed', state: 'raised', since: NOW, because, runId: '7' } as const;
  const state = { ...alert, next: 'Put a valid API token.', webhookAt: null, commandAt: null };
  expect(payloadOf(state, (text) => text).text).toBe(`sluice: pages: failed: ${said}`);
});

it('a test alert is delivered like any other alert', async () => {
  const [webhook] = channelsOf(settings({ webhook: new Secret(hooks.url) }), effects());
  expect(await webhook?.send(testPayload(NOW))).toEqual({ ok: true });
  expect(hooks.taken[0]?.body).toMatchObject({ v: 1, kind: 'test' });
});

it('an alert contains no secret', () => {
  const redact = createRedactor([CANARY]).redact;
  const state = {
    sync: CANARY,
    kind: 'failed',
    state: 'raised',
    since: NOW,
    because: `at ${CANARY}`,
    next: `see ${CANARY}`,
    runId: '1',
    webhookAt: null,
    commandAt: null,
  } as const;
  expect(JSON.stringify(payloadOf(state, redact))).not.toContain(CANARY);
});
