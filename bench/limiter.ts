/**
 * The limiter: how long each of eight processes takes to get a free slot of one token, against the shortest round trip to
 * the database, made by the same processes at the same rate.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import type { TakerOptions } from './stage/slot-taker.ts';

const PROCESSES = 8;
const CALLS = 500;
/** Shorter than any call to the service. */
const CALL_MS = 50;

interface Durations {
  readonly p50: number;
  readonly p99: number;
  /** Slots that all processes took together. */
  readonly perSecond: number;
}

export const limiter: Benchmark = {
  name: 'limiter',
  about: 'a slot of the token for each of eight processes, against a bare round trip to the database',
  run: async (setting) => {
    const database = await (await setting.postgres()).create();
    await (await warehouseAt(database.url)).close();
    const calls = scaled(setting, CALLS, 50);
    const taking = (timed: TakerOptions['timed'], callMs: number) => () =>
      together({ warehouseUrl: database.url, inFlight: PROCESSES, calls, callMs, timed });
    const runs = await alternate(setting.runs, {
      take: taking('take', CALL_MS),
      trip: taking('round trip', CALL_MS),
      rush: taking('take', 0),
    });
    await database.drop();
    const figure = (of: readonly Durations[], what: keyof Durations) => figureOf(of.map((it) => it[what]));
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
        `${PROCESSES} processes with ${calls} calls each, ${PROCESSES} slots, no limit on the rate, one call every ${CALL_MS} ms on average`,
        'with nothing in between, every process frees its slot and takes the next immediately',
      ],
    };
  },
};

/** Starts all processes at the same time and merges their durations. */
async function together(options: TakerOptions): Promise<Durations> {
  const children = await Promise.all(Array.from({ length: PROCESSES }, () => startTaker(options)));
  const results = await Promise.all(children.map(resultOf));
  const tookMs = results.flatMap((it) => it.tookMs).toSorted((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(share * (tookMs.length - 1))] ?? Number.NaN;
  const perSecond = results.reduce((sum, it) => sum + (it.tookMs.length / it.lastedMs) * 1000, 0);
  return { p50: at(0.5), p99: at(0.99), perSecond };
}

async function startTaker(options: TakerOptions): Promise<ChildProcess> {
  const child = fork(new URL('./stage/slot-taker.ts', import.meta.url), [JSON.stringify(options)], { execArgv: [] });
  await once(child, 'message');
  return child;
}

async function resultOf(child: ChildProcess): Promise<{ readonly tookMs: number[]; readonly lastedMs: number }> {
  const reply = once(child, 'message');
  child.send('go');
  const [message] = (await reply) as [{ tookMs: number[]; lastedMs: number }];
  return message;
}
