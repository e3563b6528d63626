/** The open run of a sync that the config does not have any more: any other sync ends it once nothing would continue it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { dyingAt, expireLeases, STEP } from './crash.ts';
import { failingFrom } from './failing.ts';
import { select, states } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const groups = (name: string): string =>
  `  ${name}: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }\n`;
const USER = '  user: { endpoint: microblog.user, request: { user: acme_labs } }\n';
const configOf = (...syncs: readonly string[]): string => `${service()}\nsyncs:\n${syncs.join('')}`;

/** A run whose process was killed while its first request was in flight, before its sync was removed. */
async function killed(scene: Scene): Promise<void> {
  const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 });
  await expect(scene.sync(configOf(groups('former')), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
  expect(await states(scene.warehouse)).toEqual({ sent: 1, planned: 1 });
}

/** A day passes, in which no process works on the sync. */
async function letADayPass({ warehouse, clock }: Scene): Promise<void> {
  clock.advance(DAY_MS + HOUR_MS);
  await expireLeases(warehouse);
}

const runsOf = ({ warehouse }: Scene) =>
  select<{ sync: string; state: string }>(
    warehouse,
    `select sync, state from sluice_ops.runs where sync like 'former%' order by id`,
  );
const lostOf = ({ warehouse }: Scene) =>
  select(warehouse, 'select sync, attempt, reason, verdict from sluice_ops.lost_answers order by request_id');
const former = async ({ warehouse }: Scene) =>
  (await readStatus(warehouse)).syncs.find(({ sync }) => sync === 'former');

anyWarehouse('the open run of a removed sync', (open) => {
  it('is ended by any sync once no run would continue it, with its requests in flight listed as lost', async () => {
    const scene = await sceneIn(await open());
    await killed(scene);
    await letADayPass(scene);

    expect(only(await scene.sync(configOf(USER)))).toMatchObject({ exitCode: 0 });

    expect(await runsOf(scene)).toEqual([{ sync: 'former', state: 'abandoned' }]);
    expect(await former(scene)).toMatchObject({ state: 'abandoned', open: 0 });
    expect(await lostOf(scene)).toEqual([
      { sync: 'former', attempt: '1', reason: 'its run was given up before the answer came', verdict: null },
    ]);
    expect(scene.notices.filter(({ sync }) => sync === 'former')).toEqual([
      {
        level: 'warn',
        sync: 'former',
        message: expect.stringMatching(/^request \d+ of an abandoned run had no answer yet; it may have been charged$/),
      },
    ]);
  });

  it.each([
    ['started within a day', async ({ warehouse }: Scene) => expireLeases(warehouse)],
    [
      'was executed by workers within a day',
      async (scene: Scene) => {
        await letADayPass(scene);
        const byWorkers = `update sluice_ops.leases set holder = (select 'run/' || id from sluice_ops.runs) returning name`;
        await select(scene.warehouse, byWorkers);
      },
    ],
  ])('that %s stays open, because a config in another folder may continue it', async (_, wait) => {
    const scene = await sceneIn(await open());
    await killed(scene);
    await wait(scene);

    expect(only(await scene.sync(configOf(USER)))).toMatchObject({ exitCode: 0 });

    expect(await runsOf(scene)).toEqual([{ sync: 'former', state: 'running' }]);
    expect(await lostOf(scene)).toEqual([]);
  });

  it('is ended with its read of the request log', async () => {
    const scene = await sceneIn(await open());
    await killed(scene);
    await select(
      scene.warehouse,
      `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
        select 'former:log', 'token.requests', 'h', 'running', today, started_at from sluice_ops.runs returning id`,
    );
    await letADayPass(scene);

    await scene.sync(configOf(USER));

    expect((await runsOf(scene)).map(({ state }) => state)).toEqual(['abandoned', 'abandoned']);
  });

  it('has its spooled answers stored and loaded first; while their spool cannot be found, it stays open', async () => {
    const scene = await sceneIn(await open());
    const folder = await mkdtemp(join(tmpdir(), 'sluice-removed-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const spool = openSpool({ folder: join(folder, 'spool') });
    const gone = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const { warehouse } = failingFrom(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 }, gone);
    await scene.sync(configOf(groups('former')), { warehouse, effects: { newId: randomUUID, spool } });
    expect(await spoolFiles(spool.folder)).toHaveLength(1);
    await letADayPass(scene);
    const other = { effects: { newId: randomUUID, spool: openSpool({ folder: join(folder, 'other') }) } };
    await rename(spool.folder, `${spool.folder}.away`);

    await scene.sync(configOf(USER), other);
    expect(await runsOf(scene)).toEqual([{ sync: 'former', state: 'running' }]);
    expect(await lostOf(scene)).toEqual([]);

    await rename(`${spool.folder}.away`, spool.folder);
    await scene.sync(configOf(USER), other);
    expect(await runsOf(scene)).toEqual([{ sync: 'former', state: 'abandoned' }]);
    expect(await lostOf(scene)).toEqual([]);
    expect(await spoolFiles(spool.folder)).toEqual([]);
    expect(await states(scene.warehouse)).toMatchObject({ abandoned: 1, loaded: 3 });
    expect(await select(scene.warehouse, 'select urn_value from sluice.pronet_groups')).toHaveLength(1);
  });
});
