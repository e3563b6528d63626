/** Processes with one token and one warehouse: together they keep to what one may do, in calls, in pace and in points. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { only, service } from '../flow/scene.ts';
import { builtProgram } from '../support/built.ts';
import { freshDatabase } from '../support/database.ts';
import { countOf } from '../support/long.ts';
import { postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { type Order, runOrder } from './run-order.ts';

const built = await builtProgram();
const PROCESSES = countOf(3, 4);
/** The others run in the process of the test, where a run costs a third. */
const CHILDREN = countOf(1, 4);
const IN_FLIGHT = 3;
const PER_SECOND = 25;
const PER_DAY = 16;
/** More than the day allows, for each. */
const INPUTS = PER_DAY + 1;

const configOf = (
  process: number,
  budget: string,
): string => `${service({ in_flight: IN_FLIGHT, requests_per_second: PER_SECOND })}
${budget}
syncs:
  groups${process}:
    endpoint: pronet.group
    for_each: { group: [${Array.from({ length: INPUTS }, (_, n) => `"${process}${n}"`).join(', ')}] }
`;

async function runInChild(order: Order): Promise<Summary> {
  const child = fork(built.pathOf('test/journeys/sync-process.ts'), [JSON.stringify(order)], {
    execArgv: [],
    env: built.env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let result: Summary | undefined;
  child.on('message', (message: Summary) => {
    result = message;
  });
  await once(child, 'exit');
  if (!result) throw new Error('it said nothing');
  return result;
}

it('processes with one token keep to its calls, its pace and its points together', async () => {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  const warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close());
  const arrivals: number[] = [];
  const sandbox = await serveSandbox({
    respond: async ({ number }) => {
      arrivals.push(Date.now());
      await wait(150);
      return { body: [{ urn: { type: 'group', value: `g${number}` }, name: 'x', url: 'u', member_count: 1 }] };
    },
  });
  onTestFinished(() => sandbox.close());
  const together = (budget: string): Promise<Summary[]> =>
    Promise.all(
      Array.from({ length: PROCESSES }, async (_, process) => {
        const run = process < CHILDREN ? runInChild : runOrder;
        const yaml = configOf(process, budget);
        return run({ yaml, serviceUrl: sandbox.url, warehouseUrl: database.url });
      }),
    );
  const paid = (): number => sandbox.requests().reduce((sum, { cost }) => sum + cost, 0);

  const first = await together(`budget: { per_day: ${PER_DAY} }`);

  // One point a call: not one too many, and none left unspent.
  expect(paid()).toBe(PER_DAY);
  expect(first.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: PROCESSES }, () => 6));
  for (const summary of first) expect(only(summary)).toMatchObject({ state: 'out_of_points', inDoubt: 0 });
  expect(first.reduce((sum, summary) => sum + only(summary).answers, 0)).toBe(PER_DAY);

  const rest = await together('');
  expect(rest.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: PROCESSES }, () => 0));
  expect(paid()).toBe(PROCESSES * INPUTS);

  expect(Math.max(...sandbox.requests().map(({ inFlight }) => inFlight))).toBe(IN_FLIGHT);
  for (const windowMs of [200, 1000]) {
    // A call may arrive later than it was sent, the next one not.
    const most = (PER_SECOND * (windowMs + 300)) / 1000 + 1;
    for (const [index, at] of arrivals.entries())
      expect(arrivals.slice(index).filter((it) => it - at < windowMs).length).toBeLessThanOrEqual(most);
  }
});
