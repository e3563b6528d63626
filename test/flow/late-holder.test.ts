/** A process that continues after another took over its lease, such as a suspended one, changes nothing of the other's run. */
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { door } from '../control/limiter-calls.ts';
import type { Fault } from '../../src/sandbox/fault.ts';
import { disturbedAt, expireLeases, type Point } from './crash.ts';
import { at, GROUPS } from './groups.ts';
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
});
