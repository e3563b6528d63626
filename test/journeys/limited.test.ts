/** `sync --limit N`: a sample through parents and children that never counts as complete. */
import { describe, expect, it } from 'vitest';
import type { RunState, SyncSummary } from '../../src/ledger/summary.ts';
import { EXIT } from '../../src/errors.ts';
import { quoteSyncs } from '../../src/flow/forecast/quote-syncs.ts';
import { readStatus } from '../../src/insight/status.ts';
import { readFigures } from '../../src/monitor/figures.ts';
import { select } from '../flow/rows.ts';
import { BUSY } from '../flow/filings.ts';
import { configOf, type Scene, SMALL, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';

const config = (syncs: string, inFlight = 4): string => `${service({ in_flight: inFlight })}\nsyncs:\n${syncs}`;
const GROUPS = Array.from({ length: 8 }, (_, at) => `100${at + 1}`);
const FAMILY =
  config(`  people: { endpoint: pronet.search.users, request: { count: 10 }, for_each: { title: [engineer, manager, designer, analyst, nurse] } }
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 10 }
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users where urn_type = 'fsd_profile'" } }
`);
const groups = (more = '', inFlight = 4): string =>
  config(`  groups: { endpoint: pronet.group, for_each: { group: ${JSON.stringify(GROUPS)} }${more} }\n`, inFlight);
const FILINGS =
  config(`  filings: { endpoint: sec.search.companies, request: { count: 20 }, window: { from: 2026-01-05, to: 2026-02-15 } }
`);

const ends = (syncs: readonly SyncSummary[]): readonly (readonly [string, RunState, number])[] =>
  syncs.map(({ sync, state, exitCode }) => [sync, state, exitCode]);
const keys = (scene: Scene): readonly string[] => scene.arrived().map(({ body }) => JSON.stringify(body));

anyWarehouse('a limited run', (open) => {
  it('sends at most so many requests of each sync, parents and children, and is partial', async () => {
    const scene = await sceneIn(await open());
    const { syncs, exitCode } = await scene.sync(FAMILY, { limit: 2 });
    expect([ends(syncs), exitCode]).toEqual([
      [
        ['people', 'partial', 0],
        ['schools', 'partial', 0],
      ],
      0,
    ]);
    const sent = Map.groupBy(scene.arrived(), ({ endpoint }) => endpoint);
    expect([...sent].map(([endpoint, requests]) => [endpoint, requests.length])).toEqual([
      ['pronet.search.users', 2],
      ['pronet.user.education', 2],
    ]);
    expect(syncs[0]).toMatchObject({
      limit: { requests: 2, leftOut: 3 },
      error: 'limited to 2 requests (--limit); 3 more were left out',
      next: 'Run the same command without --limit to request the rest.',
    });
    expect(await select(scene.warehouse, 'select sync, state, scope from sluice.sync_runs order by run_id')).toEqual([
      { sync: 'people', state: 'partial', scope: 'limited' },
      { sync: 'schools', state: 'partial', scope: 'limited' },
    ]);
    expect(
      await select(scene.warehouse, 'select refreshed_at, completed_at from sluice.sync_freshness order by sync'),
    ).toEqual([
      { refreshed_at: null, completed_at: null },
      { refreshed_at: null, completed_at: null },
    ]);
    const now = scene.clock.now();
    const lastSuccesses = async () =>
      (await readFigures(scene.warehouse, { now, endedSince: now, tags: [] })).samples
        .sluice_sync_last_success_timestamp_seconds;
    expect(await lastSuccesses()).toEqual([]);
    expect((await scene.sync(FAMILY)).exitCode).toBe(0);
    expect(await lastSuccesses()).toHaveLength(2);
  });
});

describe('the sync after a limited run', () => {
  const open = postgresWarehouses();

  it('is still shown by the run before a sample and a run of given days, which are shown only without another', async () => {
    let status = 200;
    const respond = () => (status === 200 ? undefined : { status, body: '{}' });
    const scene = await sceneIn(await open(), { respond });
    const yaml = FAMILY.slice(0, FAMILY.indexOf('  schools:'));
    const metric = async (name: 'sluice_sync_last_exit_code' | 'sluice_sync_interrupted') => {
      const now = scene.clock.now();
      const { samples } = await readFigures(scene.warehouse, { now, endedSince: now, tags: [] });
      return samples[name]?.map(({ value }) => value);
    };
    const shown = async () => {
      const [row] = (await readStatus(scene.warehouse)).syncs;
      const [quality] = await select<{ failed: string }>(
        scene.warehouse,
        'select last_run_failed as failed from sluice.sync_quality',
      );
      return [
        row?.state,
        row?.failed,
        Number(quality?.failed),
        row?.exitCode,
        await metric('sluice_sync_last_exit_code'),
      ];
    };
    await scene.sync(yaml, { limit: 1 });
    expect(await shown()).toEqual(['partial', 0, 0, 0, [0]]);
    status = 404;
    await scene.sync(yaml);
    const failed = ['partial', 5, 5, 4, [4]];
    expect(await shown()).toEqual(failed);
    status = 200;
    await scene.sync(yaml, { limit: 1 });
    expect(await shown()).toEqual(failed);
    await select(
      scene.warehouse,
      `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, scope)
       select sync, endpoint, 'days', 'complete', 0, today, now(), now(), 'range' from sluice_ops.runs limit 1 returning id`,
    );
    expect(await shown()).toEqual(failed);
    scene.clock.advance(1000);
    await scene.sync(yaml, { failed: true });
    expect(await shown()).toEqual(['complete', 0, 0, 0, [0]]);
    await scene.sync(yaml);
    await scene.sync(yaml, { limit: 1 });
    expect(await metric('sluice_sync_interrupted')).toEqual([0]);
    await select(
      scene.warehouse,
      `update sluice_ops.runs set state = 'running', exit_code = null, ended_at = null
       where id = (select max(id) from sluice_ops.runs where scope is null) returning id`,
    );
    expect(await metric('sluice_sync_interrupted')).toEqual([1]);
  });

  it('requests everything, or only the rest if max_age allows it', async () => {
    for (const [more, rest] of [
      ['', GROUPS.length],
      [', max_age: 1d', GROUPS.length - 3],
    ] as const) {
      const scene = await sceneIn(await open());
      await scene.sync(groups(more), { limit: 3 });
      expect(scene.arrived()).toHaveLength(3);
      const { syncs } = await scene.sync(groups(more));
      expect(ends(syncs)).toEqual([['groups', 'complete', 0]]);
      expect(syncs[0]).toMatchObject({ continued: false, error: null });
      expect(scene.arrived()).toHaveLength(rest);
    }
  });

  it('counts answers that serve for nothing, so a second sample shows the next inputs', async () => {
    const scene = await sceneIn(await open());
    const seen = new Set<string>();
    for (const sent of [3, 3, 2, 0]) {
      await scene.sync(groups(', max_age: 1d'), { limit: 3 });
      const arrived = keys(scene);
      expect(arrived).toHaveLength(sent);
      arrived.forEach((it) => seen.add(it));
    }
    expect(seen.size).toBe(GROUPS.length);
  });

  it('requests a window from its start, because the limited run moved no watermark', async () => {
    const scene = await sceneIn(await open(), { size: { ...SMALL, ...BUSY } });
    const { syncs } = await scene.sync(FILINGS, { limit: 5 });
    expect(ends(syncs)).toEqual([['filings', 'partial', 0]]);
    expect(syncs[0]?.quote).toMatchObject({ most: 5 });
    expect(scene.arrived()).toHaveLength(5);
    expect(await select(scene.warehouse, 'select * from sluice_ops.marks')).toEqual([]);
    expect(
      await select(scene.warehouse, 'select open_slices > 0 as has_open, lower_bound_slices from sluice.sync_coverage'),
    ).toEqual([{ has_open: true, lower_bound_slices: '0' }]);
    expect(syncs[0]?.limit?.leftOut).toBeGreaterThan(0);
    const complete = await scene.sync(FILINGS);
    expect(ends(complete.syncs)).toEqual([['filings', 'complete', 0]]);
    expect(scene.arrived().length).toBeGreaterThan(5);
    const other = await sceneIn(await open(), { size: { ...SMALL, ...BUSY } });
    await other.sync(FILINGS);
    const filings = 'select accession_number, file_name from sluice.sec_filings order by 1, 2';
    expect(await select(scene.warehouse, filings)).toEqual(await select(other.warehouse, filings));
  });

  it('is quoted at no more requests than it sends, also once the parts of its window are known', async () => {
    const scene = await sceneIn(await open(), { size: { ...SMALL, ...BUSY } });
    const config = await configOf(FILINGS, scene.sandbox.url);
    const quote = async () =>
      (await quoteSyncs(scene.warehouse, config, [], { refresh: false, limit: 2 }, scene.clock.now()))[0]?.quote;
    expect(await quote()).toMatchObject({ requests: 1, mostRequests: 2, most: 2 });
    await scene.sync(FILINGS, { limit: 2 });
    expect(await quote()).toMatchObject({ requests: 2, mostRequests: 2, most: 2 });
  });

  it('does not continue a limited run that was stopped, and the same limit does', async () => {
    const stop = new AbortController();
    let calls = 0;
    const scene = await sceneIn(await open(), {
      respond: () => {
        calls += 1;
        if (calls === 3) stop.abort();
        return undefined;
      },
    });
    const { syncs } = await scene.sync(groups('', 1), { limit: 6, signal: stop.signal });
    expect(ends(syncs)).toEqual([['groups', 'interrupted', EXIT.transient]]);
    const before = scene.arrived().length;
    expect(before).toBeLessThan(6);
    const again = await scene.sync(groups('', 1), { limit: 6 });
    expect(again.syncs[0]).toMatchObject({ continued: true, state: 'partial' });
    expect(scene.arrived()).toHaveLength(6 - before);
    expect((await scene.sync(groups('', 1))).syncs[0]).toMatchObject({ continued: false, state: 'complete' });
    expect(scene.arrived()).toHaveLength(GROUPS.length);
  });

  it('continues the run that was stopped before the limited run', async () => {
    const scene = await sceneIn(await open());
    expect(ends((await scene.sync(groups(), { maxPoints: 2 })).syncs)).toEqual([
      ['groups', 'out_of_points', EXIT.budget],
    ]);
    const bought = new Set(keys(scene));
    await scene.sync(groups(), { limit: 1 });
    scene.arrived();
    expect((await scene.sync(groups())).syncs[0]).toMatchObject({ continued: true, state: 'complete' });
    const rest = keys(scene);
    expect(rest.filter((it) => bought.has(it) && it.includes('group'))).toEqual([]);
  });
});

describe('the sync after a run of some days', () => {
  const open = postgresWarehouses();

  it('continues the run that was stopped before that', async () => {
    const stop = new AbortController();
    let calls = 0;
    const scene = await sceneIn(await open(), {
      size: { ...SMALL, ...BUSY },
      respond: () => {
        calls += 1;
        if (calls === 4) stop.abort();
        return undefined;
      },
    });
    const first = await scene.sync(FILINGS, { signal: stop.signal });
    expect(ends(first.syncs)).toEqual([['filings', 'interrupted', EXIT.transient]]);
    const bought = new Set(keys(scene));
    const days = await scene.sync(FILINGS, { from: '2026-01-05', to: '2026-01-06' });
    expect(days.syncs[0]).toMatchObject({ continued: false, state: 'complete' });
    scene.arrived();
    expect((await scene.sync(FILINGS)).syncs[0]).toMatchObject({
      runId: first.syncs[0]?.runId,
      continued: true,
      state: 'complete',
    });
    const rest = keys(scene);
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.filter((it) => bought.has(it))).toEqual([]);
  });
});

describe('a limited run', () => {
  const open = postgresWarehouses();

  it('is partial even if the limit leaves nothing out, and ends with 4 under --fail-on-truncated', async () => {
    const scene = await sceneIn(await open());
    const { syncs } = await scene.sync(groups(), { limit: 100 });
    expect(ends(syncs)).toEqual([['groups', 'partial', 0]]);
    expect(syncs[0]).toMatchObject({
      limit: { requests: 100, leftOut: 0 },
      error: 'limited to 100 requests (--limit)',
    });
    expect((await scene.sync(groups(), { limit: 1, failOnTruncated: true })).exitCode).toBe(EXIT.rejects);
  });

  it('sends nothing if an input beyond the limit is refused', async () => {
    const scene = await sceneIn(await open());
    const users = config(
      `  users: { endpoint: pronet.user.education, request: { count: 10 }, for_each: { urn: { query: "select 'fsd_profile' as type, 'a' as value union all select 'spaceship', 'b'" } } }\n`,
    );
    const { syncs } = await scene.sync(users, { limit: 1 });
    expect(ends(syncs)).toEqual([['users', 'failed', EXIT.usage]]);
    expect(scene.arrived()).toEqual([]);
  });
});
