/**
 * Workers: one large sync on a service that takes its time, shared by 1, 2, 4 and 8 processes of `sluice worker`, from
 * the first request's arrival to the last answer's leaving. The token allows more calls than all of them make, so what
 * is measured is how they share, and a second token that allows fewer shows that its limit holds over all of them.
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
/** Calls of one worker at once. */
const CALLS = 4;
/** Requests of a chunk: so few that the last chunk of a run keeps nobody waiting for long. */
const CHUNK = 20;
/** What the token of the last line allows: fewer than eight workers would make. */
const FEW = 10;
/** The least that four workers have to be faster than one. */
const SPEED_UP = 3.6;

export const workers: Benchmark = {
  name: 'workers',
  about: `one sync of ${REQUESTS} requests of ${CALL_MS} ms, shared by 1 to 8 worker processes`,
  run: async (setting) => {
    const requests = scaled(setting, REQUESTS, 160);
    const workload = workloadOf('profiles', requests);
    const latency = { kind: 'fixed', meanMs: CALL_MS } as const;
    const service = await startService({ workload: workload.name, answers: requests, latency });
    const at = { setting, service, workload };
    try {
      const lines: Line[] = [];
      let alone = Number.NaN;
      for (const count of WORKERS) {
        const spans = await runsOf(at, count, CALLS * Math.max(...WORKERS));
        const took = figureOf(spans.map(({ firstAt, lastAt }) => (lastAt - firstAt) / 1000));
        if (count === 1) alone = took.median;
        const ratio = { of: '× as fast as one', value: alone / took.median };
        const target = count === 4 ? ({ of: 'ratio', at: 'least', bound: SPEED_UP } as const) : undefined;
        lines.push(
          lineOf(`${count} ${count === 1 ? 'worker' : 'workers'}`, 's', took, { ratio, ...(target && { target }) }),
        );
      }
      const held = await runsOf(at, Math.max(...WORKERS), FEW);
      lines.push(
        lineOf(`calls at once of 8 workers, ${FEW} allowed`, '', figureOf(held.map(({ peak }) => peak)), {
          target: { of: 'value', at: 'most', bound: FEW },
        }),
      );
      return {
        lines,
        notes: [
          `${requests} requests, ${CALLS} calls at once and two chunks of ${CHUNK} requests a worker; a process has no core of its own here`,
          'every request reached the service once, or the benchmark fails',
        ],
      };
    } finally {
      await service.stop();
    }
  },
};

interface At {
  readonly setting: Setting;
  readonly service: Service;
  readonly workload: Workload;
}

async function runsOf(at: At, count: number, allowed: number): Promise<Span[]> {
  const spans: Span[] = [];
  for (let round = 0; round < at.setting.runs; round += 1) spans.push(await shared(at, count, allowed, round));
  at.setting.tell(`${count} workers, ${allowed} calls allowed: done`);
  return spans;
}

async function shared(
  { setting, service, workload }: At,
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
      onError: (error) => setting.tell(error.message),
      retry: { sleep: (ms) => wait(ms), random: Math.random },
    });
    await jobs.enqueue([{ queue: 'sync', data: syncJob(workload.name) }]);
    await jobs.close();
    // Whoever ends the run tells of it.
    await Promise.race(running.map(runEnded));
    const span = await service.span();
    if (span.requests !== workload.answers)
      throw new Error(`${span.requests} requests reached the service, where ${workload.answers} were due`);
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

/** Resolves when the stream has told such words. */
function told(child: ChildProcess, stream: 'stdout' | 'stderr', words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child[stream]?.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes(words)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`a worker ended with ${code}: ${text}`)));
  });
}

const ready = (child: ChildProcess): Promise<void> => told(child, 'stderr', 'worker is ready');
const runEnded = (child: ChildProcess): Promise<void> => told(child, 'stdout', '"runId"');
