/** A process that continues after another took over its lease, such as a suspended one, changes nothing of the other's run. */
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { door } from '../control/limiter-calls.ts';
import type { Fault } from '../../src/sandbox/fault.ts';
import { Died, disturbedAt, dyingAt, expireLeases, type Point, STEP } from './crash.ts';
import { at, GROUPS, groups } from './groups.ts';
import { select, states } from './rows.ts';
import { only, type Scene, sceneIn, type SyncMore } from './scene.ts';

/** Starts a sync that is suspended at the point until `resume`. */
async function suspended({ warehouse, sync }: Scene, yaml: string, point: Omit<Point, 'nth'>, more: SyncMore = {}) {
  const [reached, resumed] = [door(), door()];
  const suspend = async (): Promise<void> => {
    reached.open();
    await resumed.opened;
  };
  const late = sync(yaml, { ...more, warehouse: disturbedAt(warehouse, { ...point, nth: 1 }, suspend) });
  await reached.opened;
  await expireLeases(warehouse);
  return {
    resume: async () => {
      resumed.open();
      return only(await late);
    },
  };
}

const BEFORE_RUNS = { when: 'before', statement: /starts_with\("sync"/ } as const;

/** The first statement after a run is continued. */
const BEFORE_SETTLING = {
  when: 'before',
  statement: /jsonb_array_elements.*"n"."id" = /,
} as const;

const runs = ({ warehouse }: Scene) => select(warehouse, 'select sync, state from sluice_ops.runs order by id');

describe('a holder that continues after its lease was taken over', () => {
  const open = postgresWarehouses();

  /** A scene whose nth call is held until the door opens. */
  const holding = async (nth: number, faults: readonly Fault[] = []) => {
    const [held, release] = [door(), door()];
    const scene = await sceneIn(await open(), {
      faults,
      respond: async ({ number }) => {
        if (number !== nth) return undefined;
        held.open();
        await release.opened;
        return undefined;
      },
    });
    return { scene, held, release };
  };

  it('and before it continues a run: the run of the other is not given up', async () => {
    const { scene, held, release } = await holding(2);
    const late = await suspended(scene, GROUPS, BEFORE_RUNS, { refresh: true });
    const owner = scene.sync(GROUPS);
    await held.opened;

    expect(await late.resume()).toMatchObject({ exitCode: 7, error: expect.stringContaining('taken over') as unknown });
    release.open();
    expect(only(await owner)).toMatchObject({ exitCode: 0, state: 'complete', answers: 3 });
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    expect(await runs(scene)).toEqual([{ sync: 'groups', state: 'complete' }]);
  });

  it('and while it plans: the other does not wait for it, and its plan is not recorded', async () => {
    const scene = await sceneIn(await open());
    const whilePlanning = { when: 'before', statement: /set local idle_in_transaction_session_timeout = 0/ } as const;
    const late = await suspended(scene, GROUPS, whilePlanning);

    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, answers: 3 });
    expect(await late.resume()).toMatchObject({ exitCode: 7, sent: 0 });
    expect(await runs(scene)).toEqual([{ sync: 'groups', state: 'complete' }]);
  });

  const LOST = at(2, { kind: 'cut', afterBytes: 40 });

  it("and before it gives up readings of the log: the other's reading is not given up", async () => {
    // The lost answer is looked up.
    const { scene, held, release } = await holding(3, [LOST]);
    const late = await suspended(scene, GROUPS, BEFORE_RUNS);
    const owner = scene.sync(GROUPS);
    await held.opened;

    expect(await late.resume()).toMatchObject({ exitCode: 7 });
    const readings = "select distinct state from sluice_ops.requests where sync = 'groups:log'";
    expect(await select(scene.warehouse, readings)).toEqual([{ state: 'sent' }]);
    release.open();
    expect(only(await owner)).toMatchObject({ exitCode: 0, answers: 3 });
    expect(await select(scene.warehouse, readings)).toEqual([{ state: 'loaded' }]);
  });

  it('and before it ends a reading of the log that the other gave up: the reading does not end as complete', async () => {
    const scene = await sceneIn(await open(), { faults: [LOST] });
    const beforeTotals = { when: 'before', statement: /filter \(where state = 'fresh'\)/ } as const;
    const late = await suspended(scene, GROUPS, beforeTotals);

    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true });
    const before = await runs(scene);
    expect(before).toContainEqual({ sync: 'groups:log', state: 'abandoned' });
    expect(await late.resume()).toMatchObject({ exitCode: 7 });
    expect(await runs(scene)).toEqual(before);
  });

  it("and whose call is refused for the complete endpoint: the other's requests are not skipped", async () => {
    const doors = [door(), door()];
    const releases = [door(), door()];
    let calls = 0;
    const scene = await sceneIn(await open(), {
      respond: async ({ endpoint }) => {
        const call = calls;
        calls += 1;
        doors[call]?.open();
        await releases[call]?.opened;
        return endpoint === 'pronet.group' && call === 0 ? { status: 403, body: { detail: 'plan' } } : undefined;
      },
    });
    const late = scene.sync(GROUPS);
    await doors[0]?.opened;
    await expireLeases(scene.warehouse);
    const owner = scene.sync(GROUPS);
    await doors[1]?.opened;

    releases[0]?.open();
    expect(only(await late)).toMatchObject({ exitCode: 7 });
    releases[1]?.open();
    expect(only(await owner)).toMatchObject({ exitCode: 0, state: 'complete', left: 0 });
    expect(await states(scene.warehouse)).toMatchObject({ loaded: 3 });
  });

  it("and before it settles what is in flight: the other's call is not recorded as lost", async () => {
    const { scene, held, release } = await holding(2);
    const dying = { when: 'after', statement: STEP.send, nth: 1 } as const;
    const stopped = scene.sync(GROUPS, { warehouse: dyingAt(scene.warehouse, dying).warehouse });
    await expect(stopped).rejects.toThrow(Died);
    await expireLeases(scene.warehouse);
    const late = await suspended(scene, GROUPS, BEFORE_SETTLING);
    const owner = scene.sync(GROUPS);
    await held.opened;
    const losses = 'select request_id, attempt::int from sluice_ops.lost_answers order by 1, 2';
    const before = await select(scene.warehouse, losses);

    expect(await late.resume()).toMatchObject({ exitCode: 7 });
    expect(await select(scene.warehouse, losses)).toEqual(before);
    release.open();
    expect(only(await owner)).toMatchObject({ exitCode: 0, state: 'complete', inDoubt: 0 });
    expect(await states(scene.warehouse)).toMatchObject({ loaded: 3 });
  });

  it('and between the commit of a request and its call: the call is not made', async () => {
    const scene = await sceneIn(await open());
    // The other process uses the first of two slots, so the second is not taken over.
    const late = await suspended(scene, groups('', { in_flight: 2 }), { when: 'after', statement: STEP.send });
    scene.clock.advance(60_000);
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true, answers: 3 });
    scene.arrived();

    expect(await late.resume()).toMatchObject({ exitCode: 7 });
    expect(scene.arrived()).toEqual([]);
    expect(await states(scene.warehouse)).toMatchObject({ loaded: 3 });
  });
});
