/** Runs that were cut short: continued with the plan they had, or given up when it no longer holds. */
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { HOUR_MS } from './clock.ts';
import { dyingAt, expireLeases, STEP } from './crash.ts';
import { BUSY, days, filings, inTable, inWorld } from './filings.ts';
import { select, states } from './rows.ts';
import { only, sceneIn } from './scene.ts';

describe('the plan', () => {
  const open = postgresWarehouses();

  it('of a run that is continued keeps its days', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-02-20, to: today }');
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 2 });
    await expect(scene.sync(config, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    scene.clock.advance(20 * HOUR_MS);

    const run = only(await scene.sync(config));

    expect(run).toMatchObject({ exitCode: 0, continued: true });
    expect(days(scene).every((it) => it <= '2026-03-06..2026-03-06')).toBe(true);
    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-20', date_to: '2026-03-06' }));
  });

  it.each([
    ['older than a day', 25 * HOUR_MS, '{ count: 20 }'],
    ['of another definition', 0, '{ count: 25 }'],
  ])(
    'of a run %s is replaced by a new one, and possible charges of the old one are reported',
    async (_, waitMs, request) => {
      const scene = await sceneIn(await open(), { size: BUSY });
      const window = 'window: { from: 2026-02-20, to: 2026-03-04 }';
      const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 3 });
      await expect(scene.sync(filings(window), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
      await expireLeases(scene.warehouse);
      const { sent = 0 } = await states(scene.warehouse);
      scene.clock.advance(waitMs);

      const run = only(await scene.sync(filings(window, request)));

      expect(run).toMatchObject({ exitCode: 0, state: 'complete', continued: false });
      expect(scene.notices.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual(
        Array(sent).fill(expect.stringContaining('of an abandoned run had no answer yet')),
      );
      expect(sent).toBeGreaterThan(0);
      const old = await select(
        scene.warehouse,
        'select state, count(*)::int as n from sluice_ops.requests where run_id = 1 group by 1 order by 1',
      );
      expect(old.map(({ state }) => state).filter((state) => state !== 'skipped')).toEqual(['abandoned', 'loaded']);
      expect(
        await select(scene.warehouse, "select state from sluice_ops.runs where sync = 'filings' order by id"),
      ).toEqual([{ state: 'abandoned' }, { state: 'complete' }]);
      const [counted] = await select(
        scene.warehouse,
        'select stored::int, received::int, loaded::int, points::float8, asked::int from sluice.sync_runs where run_id = 1',
      );
      const [bought] = await select(
        scene.warehouse,
        `select count(a.id)::int as stored, sum(a.received)::int as received, sum(a.loaded)::int as loaded,
           (select sum(points)::float8 from sluice_ops.requests where run_id = 1) as points,
           (select count(*)::int from sluice_ops.requests where run_id = 1 and attempts > 0) as asked
         from sluice_ops.answers a where a.run_id = 1`,
      );
      expect(counted).toEqual(bought);
      expect(counted).toMatchObject({ stored: 2, received: expect.toSatisfy((items: number) => items > 0) });
      expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-20', date_to: '2026-03-04' }));
    },
  );
});
