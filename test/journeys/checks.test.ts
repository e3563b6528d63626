/** `checks:` of a sync: each kind fails and passes, and a result never outlives or outranks what is known. */
import { load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import { sendAlerts } from '../../src/alerts/send-alerts.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { EXIT } from '../../src/errors.ts';
import { readFigures } from '../../src/monitor/figures.ts';
import { openHooks } from '../alerts/hooks.ts';
import { readStatus } from '../../src/insight/status.ts';
import { reportPage } from '../../src/report/page.ts';
import { readReport } from '../../src/report/read-report.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { DAY_MS } from '../flow/clock.ts';
import { shared } from '../flow/chunks.ts';
import { select } from '../flow/rows.ts';
import { only, type Scene, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse, postgresWarehouses, realEffects } from '../support/warehouse.ts';

const groups = (checks: string, more = '', names = ['n0', 'n1', 'n2', 'n3']): string => `${service()}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: [${names.join(', ')}] }
    accept: { rejects: 100% }
    ${more}
    checks: ${checks}
`;

/** A service of groups whose answers the test changes. */
function groupService() {
  const answers = new Map<string, Responded>();
  const group = (name: string, more: Readonly<Record<string, unknown>> = {}): Responded => ({
    body: JSON.stringify([
      { urn: { type: 'group', value: name }, name, url: 'u', member_count: 1, description: 'd', ...more },
    ]),
  });
  const respond = ({ endpoint, body }: RespondRequest): Responded | undefined => {
    if (endpoint !== 'pronet.group') return undefined;
    const { group: name } = body as { readonly group: string };
    return answers.get(name) ?? group(name);
  };
  return { answers, group, respond };
}

const results = (warehouse: Warehouse, runId: string | null | undefined) =>
  select(
    warehouse,
    `select check_name as name, status, found::float8 as found, message from sluice.check_results where run_id = ${runId ?? 0} order by check_name`,
  );
const statuses = async (warehouse: Warehouse, runId: string | null | undefined) =>
  Object.fromEntries((await results(warehouse, runId)).map(({ name, status }) => [name, status]));

/** How many syncs the report counts as well, and what it says needs attention. */
async function reported({ warehouse, clock }: Scene): Promise<{ well: string; attention: string[] }> {
  const $ = load(reportPage(await readReport(warehouse, { now: clock.now(), redact: (text) => text })));
  const attention = $('section[aria-labelledby=attention] li')
    .toArray()
    .map((item) => $(item).text());
  return { well: $('dt:contains(Syncs) + dd strong').text(), attention };
}

anyWarehouse('checks', (open) => {
  it('of every kind pass and fail, with what they found, and the rows stay loaded', async () => {
    const { answers, group, respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const yaml = groups(`
      - { sql: "select name from pronet_groups where name = 'odd' -- a comment" }
      - { rows: { min: 3, max: 4 } }
      - { fresh: 1d }
      - { complete: true }
      - { nulls: { column: pronet_groups.description, max: 10% } }
      - { cost: { per_row: 1.5 } }`);
    const good = only(await scene.sync(yaml));
    expect(good).toMatchObject({ state: 'complete', exitCode: 0, error: null });
    expect(await results(scene.warehouse, good.runId)).toEqual([
      { name: 'complete', status: 'pass', found: 0, message: 'complete' },
      { name: 'cost', status: 'pass', found: 1, message: '4 points for 4 new or changed rows' },
      {
        name: 'fresh',
        status: 'pass',
        found: expect.any(Number) as number,
        message: 'the newest loaded answer is 0 hours old',
      },
      {
        name: 'nulls_pronet_groups_description',
        status: 'pass',
        found: 0,
        message: '0 of 4 rows have no description (0%)',
      },
      { name: 'rows', status: 'pass', found: 4, message: '4 items' },
      { name: 'sql', status: 'pass', found: 0, message: '0 rows' },
    ]);
    answers.set('n1', { status: 412, body: '{}' });
    answers.set('n2', group('n2', { name: 'odd', description: null }));
    answers.set('n3', { status: 404, body: '{}' });
    scene.clock.advance(1000);
    const bad = only(await scene.sync(yaml));
    expect(bad).toMatchObject({ state: 'partial', exitCode: EXIT.rejects });
    expect(bad.error).toMatch(
      /^5 checks failed: sql: 1 row; allowed: no rows \| rows: 2 items; allowed: at least 3, at most 4 \|/,
    );
    expect(await results(scene.warehouse, bad.runId)).toEqual([
      { name: 'complete', status: 'fail', found: 2, message: '1 failed, 1 missing' },
      { name: 'cost', status: 'fail', found: 4, message: '4 points for 1 new or changed row' },
      { name: 'fresh', status: 'pass', found: 0, message: 'the newest loaded answer is 0 hours old' },
      {
        name: 'nulls_pronet_groups_description',
        status: 'fail',
        found: 0.25,
        message: '1 of 4 rows have no description (25%)',
      },
      { name: 'rows', status: 'fail', found: 2, message: '2 items' },
      { name: 'sql', status: 'fail', found: 1, message: '1 row' },
    ]);
    expect(bad.checks.map(({ name, status }) => [name, status])).toContainEqual(['sql', 'fail']);
    expect(await select(scene.warehouse, "select name from sluice.pronet_groups where urn_value = 'n2'")).toEqual([
      { name: 'odd' },
    ]);
    const { checks } = await readStatus(scene.warehouse);
    expect(checks.map(({ sync, name }) => `${sync}.${name}`)).toHaveLength(5);
  });

  it('that cannot run fail with their error, change nothing, and are never a crash', async () => {
    const { respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const broken = [
      'select nosuch from pronet_groups',
      'delete from pronet_groups returning name',
      'with gone as (delete from pronet_groups returning name) select * from gone',
      'select 1; select 2',
      'select 1 / (count(*) - 4) as n from pronet_groups having 1 / (count(*) - 4) > 0',
      'explain select 1',
      'select 1 from pronet_groups where name::int = 1',
      ' ',
    ];
    const list = broken.map((sql) => `\n      - { sql: ${JSON.stringify(sql)} }`).join('');
    const end = only(await scene.sync(groups(list)));
    expect(end).toMatchObject({ state: 'complete', exitCode: EXIT.rejects, loaded: 4 });
    expect(end.checks.map(({ status, found }) => [status, found])).toEqual(broken.map(() => ['error', null]));
    expect(end.checks[0]?.message).toMatch(/nosuch/);
    // A value of a row is in no result.
    expect(end.checks.map(({ message }) => message)).toContain(
      'The database refuses the query: invalid input syntax for type integer: "…".',
    );
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: 4 }]);
    // Of severity warn, the same errors are listed and change nothing.
    const warned = list.replaceAll(' }', ', severity: warn }');
    expect(only(await scene.sync(groups(warned)))).toMatchObject({ state: 'complete', exitCode: 0, error: null });
  });
});

describe('checks', () => {
  const open = postgresWarehouses();

  it('compare rows with the median of complete runs, and say when there are too few', async () => {
    const { answers, respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const yaml = groups('[{ rows: { drop: 30% } }, { name: few, severity: warn, rows: { max: 2 } }]');
    const run = async () => {
      scene.clock.advance(60_000);
      return only(await scene.sync(yaml));
    };
    for (const earlier of [0, 1, 2]) {
      const end = await run();
      expect(end).toMatchObject({ exitCode: 0, error: null });
      expect(end.checks[0]?.message).toContain(`not compared with ${earlier} earlier complete run`);
      expect(end.checks[1]).toMatchObject({ status: 'fail', severity: 'warn' });
    }
    for (const name of ['n0', 'n1']) answers.set(name, { body: '[]' });
    const low = await run();
    // All was received, so the state is complete; only the exit code says that it is not right.
    expect(low).toMatchObject({ state: 'complete', exitCode: EXIT.rejects });
    expect(low.checks[0]).toMatchObject({
      status: 'fail',
      found: 2,
      message: '2 items (median 4 of 3 earlier complete runs)',
    });
    expect(await reported(scene)).toEqual({
      well: '0 of 1',
      attention: [
        'groups: check rows failed: 2 items (median 4 of 3 earlier complete runs); allowed: at most 30% below the median of earlier complete runs. See syncs',
      ],
    });
    answers.delete('n0');
    expect((await run()).checks[0]).toMatchObject({ status: 'pass', found: 3 });
    // Of severity warn, a failure is listed, and the sync is well.
    expect(await reported(scene)).toEqual({
      well: '1 of 1',
      attention: ['groups: check few (a warning) failed: 3 items; allowed: at most 2. See syncs'],
    });
  });

  it('of incomplete runs are skipped, and keep the result that is known', async () => {
    const { answers, respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const checks = '[{ sql: "select 1 where false" }, { rows: { min: 1 } }, { complete: true }, { fresh: 1d }]';
    const all = (status: string) => ({ complete: status, fresh: status, rows: status, sql: status });
    const current = async () =>
      Object.fromEntries(
        (await select(scene.warehouse, 'select check_name as name, status from sluice.check_status')).map(
          ({ name, status }) => [name, status],
        ),
      );
    const sample = only(await scene.sync(groups(checks), { limit: 2 }));
    expect(await statuses(scene.warehouse, sample.runId)).toEqual(all('skipped'));
    expect(await current()).toEqual(all('skipped'));
    answers.set('n3', { status: 404, body: '{}' });
    const end = only(await scene.sync(groups(checks)));
    expect(end).toMatchObject({ exitCode: EXIT.rejects, error: expect.stringContaining('1 failed') as string });
    expect(await current()).toEqual({ ...all('pass'), complete: 'fail' });
    answers.clear();
    const repaired = only(await scene.sync(groups(checks), { failed: true }));
    expect(repaired).toMatchObject({ exitCode: 0, error: null });
    expect(await statuses(scene.warehouse, repaired.runId)).toEqual({
      ...all('pass'),
      complete: 'skipped',
      rows: 'skipped',
    });
    expect(await current()).toEqual({ ...all('pass'), complete: 'fail' });
    const poor = only(await scene.sync(groups(checks), { maxPoints: 2 }));
    expect(poor).toMatchObject({ state: 'out_of_points', exitCode: EXIT.budget });
    expect(await statuses(scene.warehouse, poor.runId)).toEqual(all('skipped'));
    // The run goes on, and its results replace those of its first part.
    const rest = only(await scene.sync(groups(checks)));
    expect(rest).toMatchObject({ runId: poor.runId, continued: true, exitCode: 0 });
    expect(await statuses(scene.warehouse, rest.runId)).toEqual(all('pass'));
    // A process was killed between the results and the end of its run.
    await select(
      scene.warehouse,
      `update sluice_ops.runs set state = 'running', exit_code = null, ended_at = null where id = ${rest.runId}`,
    );
    const again = only(await scene.sync(groups('[{ name: sql, sql: "select 1" }]')));
    expect(again).toMatchObject({ runId: rest.runId, continued: true, exitCode: EXIT.rejects });
    expect(await statuses(scene.warehouse, rest.runId)).toEqual({ sql: 'fail' });
    // Without checks in the config, nothing is current.
    scene.clock.advance(1000);
    await scene.sync(groups('[]'));
    expect(await current()).toEqual({});
  });

  it('see what earlier answers leave out: old data, and inputs that the service did not know', async () => {
    const { answers, respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    answers.set('n1', { status: 412, body: '{}' });
    const yaml = groups('[{ fresh: 2d }, { complete: true }, { rows: { min: 4 } }]', 'max_age: 30d');
    expect(await statuses(scene.warehouse, only(await scene.sync(yaml)).runId)).toEqual({
      fresh: 'pass',
      complete: 'fail',
      rows: 'fail',
    });
    answers.clear();
    scene.clock.advance(3 * DAY_MS);
    const later = only(await scene.sync(yaml));
    expect(later).toMatchObject({ sent: 0, fresh: 4, exitCode: EXIT.rejects });
    expect(await results(scene.warehouse, later.runId)).toEqual([
      { name: 'complete', status: 'fail', found: 1, message: '1 missing' },
      {
        name: 'fresh',
        status: 'fail',
        found: (3 * DAY_MS) / 1000,
        message: 'the newest loaded answer is 72 hours old',
      },
      { name: 'rows', status: 'skipped', found: null, message: 'not run: stored answers served inputs of the run' },
    ]);
  });

  it('raise one alert while a check of severity error fails, and show in the metrics', async () => {
    const { answers, respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const hooks = await openHooks();
    const alerts = {
      webhook: new Secret(hooks.url),
      command: undefined,
      on: ALERT_KINDS,
      quarantine: 0,
      forecastMs: DAY_MS,
    };
    const { now } = scene.clock;
    const effects = {
      now,
      sleep: realEffects.sleep,
      env: {},
      redact: (text: string) => text,
      onNotice: () => undefined,
    };
    const yaml = groups('[{ name: all, rows: { min: 4 } }, { name: many, severity: warn, rows: { min: 9 } }]');
    const run = async (more = {}) => {
      scene.clock.advance(60_000);
      const summary = await scene.sync(yaml, more);
      await sendAlerts(
        { alerts, budget: {}, file: 'sluice.yaml', syncs: summary.syncs.map(({ sync: name }) => ({ name })) },
        scene.warehouse,
        summary,
        effects,
      );
    };
    const failing = async () => {
      const { samples } = await readFigures(scene.warehouse, { now: now(), endedSince: now(), tags: [] });
      return samples.sluice_check_failing;
    };
    await run();
    expect(hooks.taken).toEqual([]);
    answers.set('n1', { body: '[]' });
    await run();
    await run();
    expect(await failing()).toEqual([
      { labels: ['groups', 'all'], value: 1 },
      { labels: ['groups', 'many'], value: 1 },
    ]);
    // A run that proves nothing leaves the alert alone.
    await run({ maxPoints: 1 });
    answers.clear();
    await run();
    await run();
    expect(await failing()).toContainEqual({ labels: ['groups', 'all'], value: 0 });
    const sent = hooks.taken.map(({ body }) => body as Readonly<Record<string, unknown>>);
    expect(sent.filter(({ kind }) => kind === 'check')).toMatchObject([
      { state: 'raised', sync: 'groups', because: 'a check failed: all: 3 items; allowed: at least 4' },
      { state: 'cleared', because: 'no check fails' },
    ]);
    expect(sent.filter(({ kind }) => kind === 'partial' || kind === 'failed')).toEqual([]);
    await hooks.close();
  });

  it('of a run in chunks run once, in the worker that concludes it', async () => {
    const { respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const { orders, work } = await shared(scene, groups('[{ rows: { min: 5 } }, { sql: "select 1 where false" }]'), {
      chunkSize: 2,
    });
    expect(await work(orders[0])).toEqual({ as: 'done' });
    expect(await select(scene.warehouse, 'select * from sluice.check_results')).toEqual([]);
    const end = await work(orders[1]);
    expect(end).toMatchObject({ as: 'concluded', exitCode: EXIT.rejects, summary: { state: 'complete' } });
    expect(
      await select(scene.warehouse, 'select check_name, status, found::int from sluice.check_results order by 1'),
    ).toEqual([
      { check_name: 'rows', status: 'fail', found: 4 },
      { check_name: 'sql', status: 'pass', found: 0 },
    ]);
  });

  it('that a signal stops are skipped, and the run ends', async () => {
    const { respond } = groupService();
    const scene = await sceneIn(await open(), { respond });
    const stop = new AbortController();
    const end = scene.sync(groups('[{ sql: "select pg_sleep(100)" }, { rows: { min: 4 } }]'), { signal: stop.signal });
    const sleeping = () =>
      select(
        scene.warehouse,
        "select 1 as n from pg_stat_activity where datname = current_database() and query like 'select count(*) from (%pg_sleep%'",
      );
    await expect.poll(sleeping, { timeout: 30_000 }).toHaveLength(1);
    stop.abort();
    const ended = only(await end);
    expect(ended).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(ended.checks.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });
});
