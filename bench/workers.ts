/**
 * Workers: one large sync on a slow service, shared by 1, 2, 4 and 8 processes of `sluice worker`, from the first request's
 * arrival to the last answer's departure. The token allows more calls than all workers make, so sharing is the only limit.
 * A last line with a token that allows fewer calls shows that the limit holds across all workers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openJobs } from '../src/engine/boss.ts';
import { syncJob } from '../src/engine/job.ts';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled, type Setting } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { type Service, type Span, startService } from './stage/service.ts';
import { type Sluice, sluiceFor } from './stage/sluice.ts';
import { type Workload, workloadOf } from './stage/workload.ts';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const WORKERS = [1, 2, 4, 8];
const REQUESTS = 960;
const CALL_MS = 250;
/** Concurrent calls of one worker. */
const CALLS = 4;
/** Requests of a chunk: few, so that the wait for the last chunk of a run is short. */
const CHUNK = 20;
/** Concurrent calls that the token of the last line allows: fewer than eight workers would make. */
const FEW = 10;
/** The required speed-up of four workers over one. */
const SPEED_UP = 3.6;

export const workers: Benchmark = {
  name: 'workers',
  about: `one sync of ${REQUESTS} requests of ${CALL_MS} ms, shared by 1 to 8 worker processes`,
  run: async (setting) => {
    const requests = scaled(setting, REQUESTS, 160);
    const workload = workloadOf('profiles', requests);
    const latency = { kind: 'fixed', meanMs: CALL_MS } as const;
    const service = await startService({ workload: workload.name, answers: requests, latency });
    const context = { setting, service, workload };
    try {
      const lines: Line[] = [];
      let alone = Number.NaN;
      for (const count of WORKERS) {
        const spans = await runsOf(context, count, CALLS * Math.max(...WORKERS));
        const took = figureOf(spans.map(({ firstAt, lastAt }) => (lastAt - firstAt) / 1000));
        if (count === 1) alone = took.median;
        const ratio = { of: '× as fast as one', value: alone / took.median };
        const target = count === 4 ? ({ of: 'ratio', at: 'least', bound: SPEED_UP } as const) : undefined;
        lines.push(lineOf(`${count} ${count === 1 ? 'worker' : 'workers'}`, 's', took, { ratio, target }));
      }
      const limited = await runsOf(context, Math.max(...WORKERS), FEW);
      lines.push(
        lineOf(`concurrent calls of 8 workers, ${FEW} allowed`, '', figureOf(limited.map(({ peak }) => peak)), {
          target: { of: 'value', at: 'most', bound: FEW },
        }),
      );
      return {
        lines,
        notes: [
          `${requests} requests; each worker has ${CALLS} concurrent calls and two chunks of ${CHUNK} requests; the processes share the cores`,
          'the benchmark fails unless every request reached the service once',
        ],
      };
    } finally {
      await service.stop();
    }
  },
};

interface RunsContext {
  readonly setting: Setting;
  readonly service: Service;
  readonly workload: Workload;
}

async function runsOf(context: RunsContext, count: number, allowed: number): Promise<Span[]> {
  const spans: Span[] = [];
  for (let round = 0; round < context.setting.runs; round += 1)
    spans.push(await oneRun(context, count, allowed, round));
  context.setting.report(`${count} workers, ${allowed} calls allowed: done`);
  return spans;
}

async function oneRun(
  { setting, service, workload }: RunsContext,
  count: number,
  allowed: number,
  round: number,
): Promise<Span> {
  const database = await (await setting.postgres()).create();
  const warehouse = await warehouseAt(database.url);
  const folder = join(setting.folder, `${count}-${allowed}-${round}`);
  const sluice = await sluiceFor(folder, {
    workload,
    serviceUrl: service.url,
    warehouseUrl: database.url,
    inFlight: allowed,
  });
  const running = Array.from({ length: count }, () => startWorker(sluice));
  const ended = Promise.all(running.map((child) => once(child, 'exit')));
  try {
    await Promise.all(running.map(ready));
    await service.span();
    const jobs = await openJobs(warehouse, {
      onError: (error) => setting.report(error.message),
      retry: { sleep: (ms) => wait(ms), random: Math.random },
    });
    await jobs.enqueue([{ queue: 'sync', data: syncJob(workload.name) }]);
    await jobs.close();
    // The worker that ends the run prints its summary.
    await Promise.race(running.map(runEnded));
    const span = await service.span();
    if (span.requests !== workload.answers)
      throw new Error(`${span.requests} requests reached the service; expected ${workload.answers}`);
    return span;
  } finally {
    for (const child of running) child.kill('SIGTERM');
    await ended;
    await warehouse.close();
    await database.drop();
  }
}

const startWorker = ({ env, folder }: Sluice): ChildProcess =>
  spawn(
    process.execPath,
    [MAIN, 'worker', '--json', '--listen', 'off', '--calls', String(CALLS), '--chunk', String(CHUNK)],
    { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env } },
  );

/** Resolves when the worker has printed the text. Rejects if it exits before. */
function printed(child: ChildProcess, stream: 'stdout' | 'stderr', expected: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child[stream]?.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes(expected)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`a worker ended with ${code}: ${text}`)));
  });
}

const ready = (child: ChildProcess): Promise<void> => printed(child, 'stderr', 'worker is ready');
const runEnded = (child: ChildProcess): Promise<void> => printed(child, 'stdout', '"runId"');
