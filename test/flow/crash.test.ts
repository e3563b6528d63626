/** A run that dies at any point and is run again ends like an undisturbed run; stored answers are not bought again. */
import { expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { dyingAt, expireLeases, type Point, STEP } from './crash.ts';
import { rowsOf, type Rows, select, states } from './rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from './scene.ts';

const IN_FLIGHT = 3;

/** A window that is split several times, so that a run plans while it loads. */
const CONFIG = `${service({ in_flight: IN_FLIGHT })}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-20 }
`;

const BUSY = { filings: 20_000, companies: 40 };

/** The nth time of each step, so that runs die at their beginning and in the middle of the work. */
const POINTS: Readonly<Record<string, Point>> = {
  'inside a load, before it was committed': { when: 'after', statement: STEP.record, nth: 5 },
  'after the ledger was planned': { when: 'before', statement: STEP.send, nth: 1 },
  'after a request was marked sent, before a byte left': { when: 'after', statement: STEP.send, nth: 4 },
  'after the first answer arrived, before it was stored': { when: 'before', statement: STEP.store, nth: 1 },
  'after an answer arrived, before it was stored': { when: 'before', statement: STEP.store, nth: 5 },
  'after an answer was stored, before it was loaded': { when: 'after', statement: STEP.store, nth: 5 },
  'inside the first load, before it was committed': { when: 'after', statement: STEP.record, nth: 1 },
  'after everything was loaded, before the run ended': { when: 'before', statement: STEP.end, nth: 1 },
};

const setting = async (warehouse: Warehouse): Promise<Scene> => sceneIn(warehouse, { size: BUSY });

const warnings = ({ notices }: Scene): number => notices.filter(({ level }) => level === 'warn').length;

anyWarehouse('a run that dies', (open) => {
  let undisturbed: Promise<{ readonly rows: Rows; readonly requests: number }> | undefined;
  const leftAlone = async () => {
    const scene = await setting(await open());
    const { exitCode } = await scene.sync(CONFIG);
    expect(exitCode).toBe(0);
    return { rows: await rowsOf(scene.warehouse), requests: scene.arrived().length };
  };

  it.each(Object.entries(POINTS))('%s', async (_, point) => {
    const expected = await (undisturbed ??= leftAlone());
    const scene = await setting(await open());
    const dying = dyingAt(scene.warehouse, point);
    await expect(scene.sync(CONFIG, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    expect(dying.reached()).toBe(true);
    const stored = await select<{ body: object }>(
      scene.warehouse,
      "select r.sent_body as body from sluice_ops.answers a join sluice_ops.requests r on r.id = a.request_id where a.sync = 'filings'",
    );
    scene.arrived();
    await expireLeases(scene.warehouse);

    const run = only(await scene.sync(CONFIG));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', continued: true, left: 0, inDoubt: 0 });
    expect(await rowsOf(scene.warehouse)).toEqual(expected.rows);
    expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
    // Windows are cut by what is known of them, which after a death may be less.
    expect(run.answers).toBe(run.planned);
    expect(Math.abs(run.planned - expected.requests)).toBeLessThanOrEqual(3);
    const again = scene.arrived().map(({ body }) => body);
    for (const { body } of stored) expect(again).not.toContainEqual(body);
    // Requests in flight are listed; only they are sent twice.
    const twice = sentAgain(scene.sandbox.requests());
    expect([...twice.values()].every((times) => times === 2)).toBe(true);
    expect(twice.size).toBeLessThanOrEqual(warnings(scene));
    expect(warnings(scene)).toBeLessThanOrEqual(IN_FLIGHT);
    const final = await states(scene.warehouse);
    expect(Object.keys(final).filter((state) => !['loaded', 'empty', 'skipped'].includes(state))).toEqual([]);
    expect(
      await select(
        scene.warehouse,
        "select count(*)::int as n, min(state) as state from sluice_ops.runs where sync = 'filings'",
      ),
    ).toEqual([{ n: 1, state: 'complete' }]);
  });

  it('dies again and again, and ends the same', async () => {
    const expected = await (undisturbed ??= leftAlone());
    const scene = await setting(await open());
    let ends = 0;
    for (let round = 1; round < 40; round += 1) {
      const point = Object.values(POINTS)[round % 7] as Point;
      const dying = dyingAt(scene.warehouse, { ...point, nth: 3 });
      const end = await scene.sync(CONFIG, { warehouse: dying.warehouse }).then(only, () => undefined);
      await expireLeases(scene.warehouse);
      if (end?.exitCode === 0) {
        ends = round;
        break;
      }
    }
    expect(ends).toBeGreaterThan(3);
    expect(await rowsOf(scene.warehouse)).toEqual(expected.rows);
    expect(sentAgain(scene.sandbox.requests()).size).toBeLessThanOrEqual(warnings(scene));
    expect(warnings(scene)).toBeLessThanOrEqual(ends * IN_FLIGHT);
  });
});
