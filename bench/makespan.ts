/**
 * Makespan: `sluice sync` of requests with latency, with several numbers in flight. The time runs from the first request's
 * arrival to the last answer's departure. The ideal starts the same requests in the same order, each as soon as a slot is
 * free. It uses the latencies that the service measured, so inexact timers of the service do not count as overhead.
 */
import { join } from 'node:path';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled, type Setting } from './core/benchmark.ts';
import type { LatencyKind } from './stage/latency.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const IN_FLIGHT = [1, 4, 16, 64, 256];
/** Requests for each slot: a few seconds in total. */
const ROUNDS = 12;
const MEAN_MS = 500;

export const makespan: Benchmark = {
  name: 'makespan',
  about: `requests of ${MEAN_MS} ms on average at C in flight, time over the ideal’s for the same order`,
  run: async (setting) => {
    const lines: Line[] = [];
    for (const kind of ['fixed', 'heavy'] as const)
      for (const inFlight of IN_FLIGHT) lines.push(await over(setting, kind, inFlight));
    return {
      lines,
      notes: [
        `${scaled(setting, ROUNDS, 2)} requests for each slot, of profiles; heavy: Pareto with shape 1.3, the longest 12 means`,
      ],
    };
  },
};

async function over(setting: Setting, kind: LatencyKind, inFlight: number): Promise<Line> {
  const answers = scaled(setting, ROUNDS, 2) * inFlight;
  const workload = workloadOf('profiles', answers);
  const service = await startService({ workload: workload.name, answers, latency: { kind, meanMs: MEAN_MS } });
  const postgres = await setting.postgres();
  const shares: number[] = [];
  try {
    for (let round = 0; round < setting.runs; round += 1) {
      const database = await postgres.create();
      const folder = join(setting.folder, `${kind}-${inFlight}-${round}`);
      const sluice = await sluiceFor(folder, {
        workload,
        serviceUrl: service.url,
        warehouseUrl: database.url,
        inFlight,
      });
      await sluice.run(SYNC);
      const { firstAt, lastAt, tookMs } = await service.span();
      shares.push((lastAt - firstAt) / idealMs(tookMs, inFlight));
      await database.drop();
    }
  } finally {
    await service.stop();
  }
  const figure = figureOf(shares);
  setting.report(`${kind}, C=${inFlight}: ${figure.median.toFixed(3)}`);
  const name = kind === 'fixed' ? 'fixed latency' : 'heavy-tailed latency';
  return lineOf(`${name}, C=${inFlight}, ${answers} requests`, '× ideal', figure, {
    target: { of: 'value', at: 'most', bound: 1.03 },
  });
}

/** The end of the last request if each starts, in order, as soon as a slot is free. */
function idealMs(tookMs: readonly number[], slots: number): number {
  const free = Array.from({ length: slots }, () => 0);
  for (const ms of tookMs) {
    const soonest = free.indexOf(Math.min(...free));
    free[soonest] = (free[soonest] ?? 0) + ms;
  }
  return Math.max(...free);
}
