/** `sync --failed`: what failed in the last run is sent again, and nothing that succeeded. */
import { describe, expect, it } from 'vitest';
import { forget } from '../../src/flow/erasure/forget.ts';
import { openPlan } from '../../src/flow/forecast/open-plan.ts';
import { planSync } from '../../src/flow/prepare/plan-sync.ts';
import { readStatus } from '../../src/insight/status.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { BUSY, days, filings, inTable, inWorld } from './filings.ts';
import { select } from './rows.ts';
import { configOf, only, type Scene, sceneIn, service } from './scene.ts';

const groups = (names: readonly string[], more = ''): string => `${service({ retries: 1 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${names.map((name) => `"${name}"`).join(', ')}] }${more} }
`;
const FIVE = ['1001', '1002', '1003', '1004', '1005'];
const CUT = '[{"@type":"@pronet_group","urn":{';

/** A service that fails for some groups until the test changes that. */
function failing(initial: Readonly<Record<string, Responded>>) {
  const failures = new Map(Object.entries(initial));
  return {
    failures,
    respond: ({ body }: RespondRequest): Responded | undefined => {
      const { group } = body as { readonly group?: { readonly value?: string } | string };
      return failures.get(typeof group === 'string' ? group : (group?.value ?? ''));
    },
  };
}

const BROKEN = {
  '1002': { status: 404, body: '{}' },
  '1003': { status: 422, body: '{}' },
  '1004': { status: 415, body: '{}' },
  '1005': { body: CUT },
};

const asked = (scene: Scene): string[] =>
  scene.arrived().map(({ body }) => /100\d/.exec(JSON.stringify(body))?.[0] ?? JSON.stringify(body));

const completed = async ({ warehouse }: Scene) =>
  select(warehouse, 'select completed_at, refreshed_at from sluice.sync_freshness');

async function plannedFailed(scene: Scene, yaml: string): Promise<number> {
  const [definition] = (await configOf(yaml, scene.sandbox.url)).syncs;
  if (!definition) throw new Error('the config has no sync');
  const options = { refresh: false, failed: true };
  const open = await openPlan(scene.warehouse, definition, options, scene.clock.now());
  expect(open).toBeUndefined();
  const { parts } = await planSync(scene.warehouse, definition, options, scene.clock.now());
  let tasks = 0;
  for await (const part of parts(operationsOf(scene.warehouse))) tasks += part.tasks.length - part.fresh.size;
  return tasks;
}

anyWarehouse('a run of what failed', (open) => {
  it('sends each failed and unreadable request again, and no other, without max_age', async () => {
    const { failures, respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    const first = only(await scene.sync(groups(FIVE)));
    expect(first).toMatchObject({ exitCode: 4, state: 'partial', failed: 3, unreadable: 1 });
    expect(await completed(scene)).toEqual([{ completed_at: null, refreshed_at: null }]);
    scene.arrived();
    failures.delete('1002');
    failures.delete('1004');
    scene.clock.advance(1000);
    expect(await plannedFailed(scene, groups(FIVE))).toBe(4);

    const second = only(await scene.sync(groups(FIVE), { failed: true }));

    expect([...new Set(asked(scene))]).toEqual(['1002', '1003', '1004', '1005']);
    expect(second).toMatchObject({ exitCode: 4, state: 'partial', planned: 4, failed: 1, unreadable: 1 });
    failures.clear();
    scene.clock.advance(1000);
    const third = only(await scene.sync(groups(FIVE), { failed: true }));
    expect(asked(scene)).toEqual(['1003', '1005']);
    expect(third).toMatchObject({ exitCode: 0, state: 'complete', planned: 2, sent: 2 });
    // It does not claim that all inputs are complete.
    expect(await completed(scene)).toEqual([{ completed_at: null, refreshed_at: null }]);
    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([
      { state: 'complete', completeAt: null, failed: 0 },
    ]);
    expect(await select(scene.warehouse, 'select state, scope from sluice.sync_runs order by run_id')).toEqual([
      { state: 'partial', scope: null },
      { state: 'partial', scope: 'failed' },
      { state: 'complete', scope: 'failed' },
    ]);
    const fourth = only(await scene.sync(groups(FIVE), { failed: true }));
    expect(fourth).toMatchObject({ exitCode: 0, planned: 0, sent: 0 });
    expect(only(await scene.sync(groups(FIVE))).sent).toBe(5);
    expect((await completed(scene))[0]?.['completed_at']).not.toBeNull();
  });
});

describe('a run of what failed', () => {
  const open = postgresWarehouses();

  it('sends requests again that other runs gave up after three unreadable answers', async () => {
    const { failures, respond } = failing({ '1005': { body: CUT } });
    const scene = await sceneIn(await open(), { respond });
    const yaml = groups(FIVE, ', max_age: 30d');
    for (let run = 0; run < 4; run += 1) {
      await scene.sync(yaml);
      scene.clock.advance(1000);
    }
    expect(asked(scene).filter((group) => group === '1005')).toHaveLength(3);
    failures.clear();

    expect(only(await scene.sync(yaml)).sent).toBe(0);
    expect(only(await scene.sync(yaml, { failed: true }))).toMatchObject({ exitCode: 0, state: 'complete', sent: 1 });
    expect(asked(scene)).toEqual(['1005']);
    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, sent: 0, unreadable: 0 });
  });

  it('sends requests that were not sent because the service refused the endpoint', async () => {
    const { failures, respond } = failing({ '1002': { status: 403, body: '{}' } });
    const scene = await sceneIn(await open(), { respond });
    expect(only(await scene.sync(groups(FIVE)))).toMatchObject({ exitCode: 4, state: 'partial', sent: 2, failed: 1 });
    expect(asked(scene)).toEqual(['1001', '1002']);
    expect(await completed(scene)).toEqual([{ completed_at: null, refreshed_at: null }]);
    failures.clear();
    scene.clock.advance(1000);

    const again = only(await scene.sync(groups(FIVE), { failed: true }));
    expect(again).toMatchObject({ exitCode: 0, state: 'complete', sent: 4 });
    expect(asked(scene)).toEqual(['1002', '1003', '1004', '1005']);
  });

  it('follows a refused run, which refreshed its sync only if it sent every request and got an answer', async () => {
    const { respond } = failing({ '1002': { status: 403, body: '{}' } });
    const refusedLast = await sceneIn(await open(), { respond });
    expect(only(await refusedLast.sync(groups(['1001', '1002'])))).toMatchObject({ exitCode: 4, state: 'partial' });
    expect((await completed(refusedLast))[0]).toMatchObject({ completed_at: null, refreshed_at: expect.any(Date) });

    const refusedAlone = await sceneIn(await open(), { respond });
    expect(only(await refusedAlone.sync(groups(['1002'])))).toMatchObject({ exitCode: 4, state: 'partial' });
    expect(await completed(refusedAlone)).toEqual([{ completed_at: null, refreshed_at: null }]);
  });

  it('takes a fresh answer that another sync bought since, instead of buying it again', async () => {
    const { failures, respond } = failing({ '1002': { status: 404, body: '{}' } });
    const scene = await sceneIn(await open(), { respond });
    const yaml = groups(['1001', '1002'], ', max_age: 30d');
    await scene.sync(yaml);
    failures.clear();
    scene.clock.advance(1000);
    await scene.sync(groups(['1002']).replace('groups:', 'others:'));
    scene.arrived();

    expect(await plannedFailed(scene, yaml)).toBe(0);
    expect(only(await scene.sync(yaml, { failed: true }))).toMatchObject({ exitCode: 0, sent: 0 });
  });

  it('leaves out inputs that the config no longer has', async () => {
    const { respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    const yaml = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: { query: "select unnest(array['1001', '1002', '1003'])" } } }
`;
    await scene.sync(yaml);
    // The query returned another row then.
    await select(
      scene.warehouse,
      `update sluice_ops.requests set input = '{"group": "gone"}' where input ->> 'group' = '1002' returning id`,
    );
    scene.arrived();

    await scene.sync(yaml, { failed: true });
    expect(asked(scene)).toEqual(['1003']);
  });

  it.each([false, true])(
    'sends nothing under the pseudonym of a forgotten entity, return allowed: %s',
    async (mayReturn) => {
      const { respond } = failing(BROKEN);
      const scene = await sceneIn(await open(), { respond });
      const yaml = `${service({ retries: 1 })}\nsyncs: { groups: { endpoint: pronet.group, request: { group: "1002" } } }\n`;
      expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 4, failed: 1 });
      const { clock, warehouse } = scene;
      const effects = {
        now: clock.now,
        sleep: clock.sleep,
        newId: () => crypto.randomUUID(),
        onProgress: () => undefined,
      };
      const options = { table: 'pronet_groups', key: ['group', '1002'], mayReturn, dryRun: false };
      expect(await forget(warehouse, options, effects, new AbortController().signal)).toMatchObject({ requests: 1 });
      scene.arrived();

      expect(only(await scene.sync(yaml, { failed: true }))).toMatchObject({ planned: 0 });

      expect(scene.arrived()).toEqual([]);
      expect(scene.notices).toContainEqual({
        level: 'info',
        sync: 'groups',
        message: 'requests left out because they name a forgotten entity: 1',
      });
    },
  );

  it('sends only the failed slices of a window, which the watermark then lists no more, and no run buys again', async () => {
    const state = { isDown: true };
    const scene = await sceneIn(await open(), {
      size: BUSY,
      respond: ({ body, number }) =>
        state.isDown && number > 1 && JSON.stringify(body).includes('"date_from":"2026-02-0')
          ? { status: 422, body: '{}' }
          : undefined,
    });
    const yaml = filings('window: { from: 2026-02-01, to: 2026-02-28 }');
    const watermarks = async () =>
      (await select<{ value: string }>(scene.warehouse, 'select value from sluice_ops.marks')).map(
        ({ value }) => JSON.parse(value) as Record<string, unknown>,
      );
    expect(only(await scene.sync(yaml)).failed).toBeGreaterThan(0);
    const failed = await select<{ slice: string }>(
      scene.warehouse,
      `select (body ->> 'date_from') || '..' || (body ->> 'date_to') as slice from sluice_ops.requests
       where state = 'failed' order by 1`,
    );
    expect(days(scene).length).toBeGreaterThan(failed.length);
    const marks = await watermarks();
    expect(marks).toMatchObject([{ reached: '2026-02-28', unread: failed.map(() => expect.anything() as unknown) }]);
    state.isDown = false;
    scene.clock.advance(1000);

    expect(only(await scene.sync(yaml, { failed: true }))).toMatchObject({ exitCode: 0, state: 'complete' });
    const slices = days(scene);
    expect(slices).toEqual(expect.arrayContaining(failed.map(({ slice }) => slice)));
    // A slice that turns out full is split; nothing outside of the failed slices is sent.
    const last = failed.at(-1)?.slice.split('..')[1] ?? '';
    for (const slice of slices) expect(slice.slice(-10) <= last).toBe(true);
    const { reached: _, unread: __, ...rest } = marks[0] ?? {};
    expect(await watermarks()).toEqual([{ ...rest, lastCompleteDay: '2026-02-28' }]);
    scene.clock.advance(1000);
    await scene.sync(yaml);
    expect(days(scene).filter((slice) => slice.slice(0, 10) <= last)).toEqual([]);
    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-01', date_to: '2026-02-28' }));
  });

  it('is refused for a changed config, another range or an unfinished run, which stays open', async () => {
    const { respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(groups(FIVE));
    scene.arrived();

    const changed = only(await scene.sync(groups(FIVE.slice(1)), { failed: true }));
    expect(changed).toMatchObject({ exitCode: 2, state: 'failed' });
    expect(changed.error).toContain('had another config, --from, --to or --limit');
    await operationsOf(scene.warehouse).updateTable('runs').set({ state: 'out_of_points' }).execute();
    const unfinished = only(await scene.sync(groups(FIVE), { failed: true }));
    expect(unfinished).toMatchObject({ exitCode: 2, next: 'Run sluice sync groups first, which continues it.' });
    expect(scene.arrived()).toEqual([]);
    expect(await select(scene.warehouse, 'select state from sluice_ops.runs')).toEqual([{ state: 'out_of_points' }]);
  });

  it('sends what failed in the last run of all inputs, also after a sample and a run of given days', async () => {
    const { failures, respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(groups(FIVE));
    await scene.sync(groups(FIVE), { limit: 1 });
    failures.clear();
    scene.arrived();
    scene.clock.advance(1000);
    expect(only(await scene.sync(groups(FIVE), { failed: true }))).toMatchObject({ exitCode: 0, sent: 4 });
    expect(asked(scene)).toEqual(['1002', '1003', '1004', '1005']);

    let isDown = true;
    const other = await sceneIn(await open(), {
      size: BUSY,
      respond: ({ body, number }) =>
        isDown && number > 1 && JSON.stringify(body).includes('"date_from":"2026-02-0')
          ? { status: 422, body: '{}' }
          : undefined,
    });
    const yaml = filings('window: { from: 2026-02-01, to: 2026-02-28 }');
    expect(only(await other.sync(yaml)).failed).toBeGreaterThan(0);
    expect(only(await other.sync(yaml, { from: '2026-01-05', to: '2026-01-06' })).failed).toBe(0);
    isDown = false;
    other.clock.advance(1000);
    days(other);
    expect(only(await other.sync(yaml, { failed: true }))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(days(other).join()).toContain('2026-02-0');
  });

  it('sends what an earlier run of failed requests left, also a day later', async () => {
    const { failures, respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(groups(FIVE));
    failures.clear();
    scene.clock.advance(1000);
    const stopped = only(await scene.sync(groups(FIVE), { failed: true, maxPoints: 0 }));
    expect(stopped).toMatchObject({ exitCode: 6, state: 'out_of_points', sent: 0 });
    scene.arrived();
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(groups(FIVE), { failed: true }))).toMatchObject({ exitCode: 0, sent: 4 });
    expect(asked(scene)).toEqual(['1002', '1003', '1004', '1005']);
    expect(only(await scene.sync(groups(FIVE), { failed: true }))).toMatchObject({ exitCode: 0, sent: 0 });
  });

  it('continues where it stopped, and a run of all inputs does not continue it', async () => {
    const { failures, respond } = failing(BROKEN);
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(groups(FIVE));
    failures.clear();
    scene.arrived();
    const stopped = only(await scene.sync(groups(FIVE), { failed: true, maxPoints: 0 }));
    expect(stopped).toMatchObject({ exitCode: 6, state: 'out_of_points' });
    scene.arrived();

    const rest = only(await scene.sync(groups(FIVE), { failed: true }));
    expect(rest).toMatchObject({ continued: true, exitCode: 0, state: 'complete', sent: 4 });
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(groups(FIVE)))).toMatchObject({ continued: false, sent: 5 });
  });
});
