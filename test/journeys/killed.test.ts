/** Processes that are killed with SIGKILL, one after the other, and the one that lives: its rows are those of an undisturbed run. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { expireLeases } from '../flow/crash.ts';
import { rowsOf, states } from '../flow/rows.ts';
import { sentAgain, only, sceneIn, service } from '../flow/scene.ts';
import { freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { postgresWarehouses, realEffects } from '../support/warehouse.ts';
import type { Order } from './killed-sync.ts';

const IN_FLIGHT = 3;
const CONFIG = `${service({ in_flight: IN_FLIGHT })}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-20 }
`;
const WORLD = { seed: 7, size: { filings: 20_000, companies: 40 } };

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly result: { readonly summary: Summary; readonly notices: readonly string[] } | undefined;
}

async function run(order: Order): Promise<Ended> {
  const child = fork(new URL('killed-sync.ts', import.meta.url), [JSON.stringify(order)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let result: Ended['result'];
  child.on('message', (message) => {
    result = message as Ended['result'];
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return { signal, result };
}

async function embedded(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-killed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyEmbedded(join(folder, 'warehouse'));
  return `embedded:${join(folder, 'warehouse')}`;
}

async function postgres(): Promise<string> {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  return database.url;
}

async function looking<T>(url: string, look: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, realEffects);
  try {
    return await look(warehouse);
  } finally {
    await warehouse.close();
  }
}

const undisturbed = postgresWarehouses();

it.each(Object.entries({ embedded, postgres }))(
  'a sync that is killed twice (%s)',
  async (_, place) => {
    const scene = await sceneIn(await undisturbed(), WORLD);
    expect((await scene.sync(CONFIG)).exitCode).toBe(0);
    const sandbox = await serveSandbox({ ...WORLD, now: scene.clock.now });
    onTestFinished(() => sandbox.close());
    const warehouseUrl = await place();
    const order = { yaml: CONFIG, serviceUrl: sandbox.url, warehouseUrl };

    // With its answer received and not stored; then inside a load's transaction.
    for (const at of [
      { when: 'before', step: 'store', nth: 4 },
      { when: 'after', step: 'record', nth: 3 },
    ] as const) {
      expect(await run({ ...order, at })).toEqual({ signal: 'SIGKILL', result: undefined });
      if (place === postgres) await looking(warehouseUrl, expireLeases);
    }
    const { signal, result } = await run({ ...order, at: null });

    expect(signal).toBeNull();
    if (!result) throw new Error('it said nothing');
    expect(only(result.summary)).toMatchObject({
      exitCode: 0,
      state: 'complete',
      continued: true,
      inDoubt: 0,
      left: 0,
    });
    expect(await looking(warehouseUrl, (it) => rowsOf(it))).toEqual(await rowsOf(scene.warehouse));
    expect(
      Object.keys(await looking(warehouseUrl, states)).filter(
        (state) => !['loaded', 'empty', 'skipped'].includes(state),
      ),
    ).toEqual([]);
    const sent = sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests');
    const again = sentAgain(sent);
    const times = [...again.values()].reduce((sum, count) => sum + count - 1, 0);
    expect(times).toBeLessThanOrEqual(2 * IN_FLIGHT);
    expect(result.notices.length).toBeLessThanOrEqual(IN_FLIGHT);
    // Windows are cut by what is known of them, which after a death may be less.
    expect(Math.abs(sent.length - times - scene.sandbox.requests().length)).toBeLessThanOrEqual(3);
  },
  120_000,
);
