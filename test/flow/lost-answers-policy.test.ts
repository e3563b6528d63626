/** Answers that are lost in transit: requested again or left listed, as the sync says, and reported in both cases. */
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { readFigures } from '../../src/monitor/figures.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import type { Fault } from '../../src/sandbox/fault.ts';
import { BUSY, days, filings, inTable, inWorld } from './filings.ts';
import { at, groups, GROUPS, paid } from './groups.ts';
import { select, states } from './rows.ts';
import { sentAgain, only, type Scene, sceneIn } from './scene.ts';

const forGroups = ({ sandbox }: Scene) => sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group');
/** The groups that were requested since the last call, in order. */
const groupsAsked = (scene: Scene): unknown[] =>
  scene
    .arrived()
    .flatMap(({ endpoint, body }) => (endpoint === 'pronet.group' ? [(body as { group: string }).group] : []));

describe('an answer that is lost', () => {
  const open = postgresWarehouses();

  it('half-way, with reconcile: it is requested again under the same id, and reported', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'cut', afterBytes: 40 })] });

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 4, answers: 3, inDoubt: 0, points: 4 });
    expect(paid(scene)).toBe(4);
    expect([...sentAgain(forGroups(scene)).values()]).toEqual([2]);
    const [, second, third] = forGroups(scene);
    expect(third?.xRequestId).toBe(second?.xRequestId);
    expect(scene.notices.map(({ message }) => message)).toEqual([expect.stringContaining('the request is sent again')]);
  });

  it('half-way, with stop: it stays listed, and the others are sent', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'cut', afterBytes: 40 })] });

    const run = only(await scene.sync(groups('in_doubt: stop')));

    expect(run).toMatchObject({ exitCode: 5, state: 'partial', sent: 3, answers: 2, inDoubt: 1 });
    expect(await states(scene.warehouse)).toEqual({ in_doubt: 1, loaded: 2 });
    expect(await select(scene.warehouse, 'select refreshed_at from sluice.sync_freshness')).toEqual([
      { refreshed_at: null },
    ]);
    expect(scene.notices.map(({ message }) => message)).toEqual([expect.stringContaining('stays in doubt')]);
    const listed = async () => (await readStatus(scene.warehouse)).syncs.find(({ sync }) => sync === run.sync);
    expect(await listed()).toMatchObject({ open: 1, inDoubt: 1 });
    // It keeps no later run from asking, and the answer closes the case.
    expect(only(await scene.sync(groups('in_doubt: stop')))).toMatchObject({
      exitCode: 0,
      continued: false,
      answers: 3,
    });
    expect(await states(scene.warehouse)).toEqual({ in_doubt: 1, loaded: 5 });
    expect(await listed()).toMatchObject({ open: 0, inDoubt: 0 });
    const { samples } = await readFigures(scene.warehouse, {
      now: scene.clock.now(),
      endedSince: scene.clock.now(),
      tags: [],
    });
    expect(samples.sluice_requests_in_doubt).toEqual([{ labels: [run.sync], value: 0 }]);
  });

  it('half-way, with stop: a run of what failed requests only it, and closes the case', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'cut', afterBytes: 40 })] });
    const run = only(await scene.sync(groups('in_doubt: stop')));
    expect(run).toMatchObject({ exitCode: 5, inDoubt: 1 });
    scene.arrived();

    expect(only(await scene.sync(groups('in_doubt: stop'), { failed: true }))).toMatchObject({ exitCode: 0, sent: 1 });

    expect(groupsAsked(scene)).toEqual(['1002']);
    const listed = (await readStatus(scene.warehouse)).syncs.find(({ sync }) => sync === run.sync);
    expect(listed).toMatchObject({ open: 0, inDoubt: 0 });
  });

  it('in a part of a window, with stop: the next run requests only that part', async () => {
    const cut: Fault = { on: { endpoint: 'sec.search.companies', nth: 3 }, do: { kind: 'cut', afterBytes: 40 } };
    const scene = await sceneIn(await open(), { size: BUSY, faults: [cut] });
    const yaml = filings('window: { from: 2026-02-01, to: 2026-02-28, lookback: 0d }\n    in_doubt: stop');

    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 5, state: 'partial', inDoubt: 1 });
    expect(days(scene).length).toBeGreaterThan(3);
    const lost = await select<{ slice: string }>(
      scene.warehouse,
      "select (body ->> 'date_from') || '..' || (body ->> 'date_to') as slice from sluice_ops.requests where state = 'in_doubt'",
    );
    scene.clock.advance(1000);

    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, state: 'complete', inDoubt: 0 });
    const [first = '', last = ''] = lost[0]?.slice.split('..') ?? [];
    const others = days(scene).filter((slice) => slice.slice(0, 10) < first || slice.slice(-10) > last);
    // Without max_age, each run repeats the last day.
    expect(others).toEqual(['2026-02-28..2026-02-28']);
    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-01', date_to: '2026-02-28' }));
    scene.clock.advance(1000);
    await scene.sync(yaml);
    expect(days(scene)).toEqual(['2026-02-28..2026-02-28']);
  });

  it('each time: it is left in doubt, and the next run requests only it', async () => {
    const faults = [2, 3].map((nth) => at(nth, { kind: 'reset', stage: 'body' }));
    const scene = await sceneIn(await open(), { faults });

    const first = only(await scene.sync(GROUPS));
    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted', answers: 2, inDoubt: 1 });
    expect(groupsAsked(scene)).toEqual(['1001', '1002', '1002', '1003']);

    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true, answers: 3, inDoubt: 0 });
    expect(groupsAsked(scene)).toEqual(['1002']);
    expect(scene.notices).toHaveLength(3);
  });
});
