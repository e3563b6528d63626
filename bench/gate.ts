/**
 * The gate: how long eight processes take to get a slot of one token when one is free, beside the shortest round trip to
 * the database that the same processes make at the same rate.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import type { TakerOrder } from './stage/gate-taker.ts';

const PROCESSES = 8;
const CALLS = 500;
/** Shorter than any call to the service. */
const CALL_MS = 50;

interface Taken {
  readonly p50: number;
  readonly p99: number;
  /** By all processes together. */
  readonly perSecond: number;
}

export const gate: Benchmark = {
  name: 'gate',
  about: 'a slot of the token for each of eight processes, against a bare round trip to the database',
  run: async (setting) => {
    const database = await (await setting.postgres()).create();
    await (await warehouseAt(database.url)).close();
    const calls = scaled(setting, CALLS, 50);
    const taking = (timed: TakerOrder['timed'], callMs: number) => () =>
      together({ warehouseUrl: database.url, inFlight: PROCESSES, calls, callMs, timed });
    const runs = await alternate(setting.runs, {
      take: taking('take', CALL_MS),
      trip: taking('round trip', CALL_MS),
      rush: taking('take', 0),
    });
    await database.drop();
    const figure = (of: readonly Taken[], what: keyof Taken) => figureOf(of.map((it) => it[what]));
    const trip = figure(runs.trip, 'p99');
    const take = figure(runs.take, 'p99');
    return {
      lines: [
        lineOf('a slot, p50', 'ms', figure(runs.take, 'p50')),
        lineOf('a slot, p99', 'ms', take, {
          ratio: { of: '× round trip p99', value: take.median / trip.median },
          target: { of: 'value', at: 'most', bound: 5 },
        }),
        lineOf('a round trip, p50', 'ms', figure(runs.trip, 'p50')),
        lineOf('a round trip, p99', 'ms', trip),
        lineOf('a slot with nothing in between, p99', 'ms', figure(runs.rush, 'p99')),
        lineOf('slots with nothing in between', '1/s', figure(runs.rush, 'perSecond')),
      ],
      notes: [
        `${PROCESSES} processes with ${calls} calls each, ${PROCESSES} slots, no pace to wait for, one call every ${CALL_MS} ms on average`,
        'with nothing in between, every process frees its slot and takes the next at once',
      ],
    };
  },
};

/** Has all processes take slots at the same time. */
async function together(order: TakerOrder): Promise<Taken> {
  const children = await Promise.all(Array.from({ length: PROCESSES }, () => begun(order)));
  const told = await Promise.all(children.map(ended));
  const tookMs = told.flatMap((it) => it.tookMs).toSorted((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(share * (tookMs.length - 1))] ?? Number.NaN;
  const perSecond = told.reduce((sum, it) => sum + (it.tookMs.length / it.lastedMs) * 1000, 0);
  return { p50: at(0.5), p99: at(0.99), perSecond };
}

async function begun(order: TakerOrder): Promise<ChildProcess> {
  const child = fork(new URL('./stage/gate-taker.ts', import.meta.url), [JSON.stringify(order)], { execArgv: [] });
  await once(child, 'message');
  return child;
}

async function ended(child: ChildProcess): Promise<{ readonly tookMs: number[]; readonly lastedMs: number }> {
  const told = once(child, 'message');
  child.send('go');
  const [message] = (await told) as [{ tookMs: number[]; lastedMs: number }];
  return message;
}
