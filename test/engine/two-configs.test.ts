/** Processes with different configs on one warehouse: a scheduler that removes schedules, and a worker without the sync. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { handle } from '../../src/engine/handle.ts';
import { syncJob } from '../../src/engine/job.ts';
import { serve } from '../../src/engine/serve.ts';
import { openInvocation } from '../../src/flow/run/invocation.ts';
import { acquireLease } from '../../src/ledger/lease.ts';
import type { Notice } from '../../src/ledger/summary.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { configOf } from '../flow/scene.ts';
import { postgresWarehouses, realEffects } from '../support/warehouse.ts';
import { jobsOf } from './due.ts';

const open = postgresWarehouses();
const CONFIG = `syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ["1001"] }
    schedule: { cron: "0 0 1 1 *", timezone: UTC }
`;
const schedule = { cron: '0 0 1 1 *', timezone: 'UTC' };

/** The notices of a scheduler from its start until it is ready. */
async function noticesAtStart(warehouse: Warehouse): Promise<readonly Notice[]> {
  const notices: Notice[] = [];
  const stop = new AbortController();
  const effects = {
    ...realEffects,
    random: () => 0,
    newId: randomUUID,
    onProgress: () => undefined,
    onNotice: (notice: Notice) => void notices.push(notice),
    onEvent: () => undefined,
    onError: () => undefined,
    onReady: () => stop.abort(),
  };
  const config = await configOf(CONFIG, 'http://127.0.0.1:1');
  await serve(config, warehouse, { role: 'schedule' }, effects, stop.signal);
  return notices;
}

it('a scheduler that removes schedules warns if another scheduler is alive', async () => {
  const warehouse = await open();
  const ops = operationsOf(warehouse);
  const before = ['groups', 'pages'].map((sync) => ({ sync, schedule }));
  await (await jobsOf(warehouse, before)).close();
  expect(await noticesAtStart(warehouse)).toEqual([]);
  await (await jobsOf(warehouse, before)).close();
  await acquireLease(ops, 'role:worker:other', 'other', false);
  expect(await noticesAtStart(warehouse)).toEqual([]);
  await (await jobsOf(warehouse, before)).close();
  await acquireLease(ops, 'role:schedule:other', 'other', false);
  expect(await noticesAtStart(warehouse)).toMatchObject([
    { level: 'warn', message: expect.stringMatching(/no schedule for pages, .*schema/) },
  ]);
  expect(await noticesAtStart(warehouse)).toEqual([]);
});

it('a job whose sync the config lacks waits for another worker, and fails without one', async () => {
  const warehouse = await open();
  const effects = {
    ...realEffects,
    random: () => 0,
    newId: randomUUID,
    onProgress: () => undefined,
    onNotice: () => undefined,
  };
  const invocation = await openInvocation(await configOf(CONFIG, 'http://127.0.0.1:1'), warehouse, effects);
  onTestFinished(() => invocation.close());
  const outcomeOf = (tries: number, others: boolean) =>
    handle(
      {
        invocation,
        jobs: { enqueue: async () => undefined },
        chunkSize: undefined,
        hasOtherWorkers: async () => others,
        onEvent: () => undefined,
        signal: new AbortController().signal,
      },
      { data: syncJob('new', tries), saveData: async () => undefined },
    );
  const outcome = await outcomeOf(0, true);
  expect(
    outcome.as === 'done' &&
      (await warehouse.db.transaction().execute((tx) => outcome.follows?.(tx) ?? Promise.resolve([]))),
  ).toEqual([{ queue: 'sync', data: syncJob('new', 1), afterSeconds: 15 }]);
  const failed = { as: 'failed', because: 'the config names no sync new' };
  expect(await outcomeOf(0, false)).toEqual(failed);
  expect(await outcomeOf(12, true)).toEqual(failed);
});
