/** Starts Sluice, in processes or in the caller's own process, and observes how it ends. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { Interruption } from '../../src/cli/exit-codes.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { runInProcess } from '../cli/in-process.ts';
import { builtProgram } from '../support/built.ts';
import { drive, type Driven, type Order } from './drive.ts';
import type { Said } from './driver.ts';

const built = await builtProgram();

/** Where the process finds the service and the warehouse. */
export interface Surroundings {
  readonly serviceUrl: string;
  readonly warehouseUrl: string;
  /** Its working folder and home. */
  readonly home: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its summary; absent if it did not finish. */
  readonly summary: Summary | undefined;
  readonly notices: readonly string[];
  /** Its output on both streams. */
  readonly wrote: string;
  readonly tookMs: number;
}

export interface Process {
  /** Resolves when the process has opened its warehouse, or has ended. */
  readonly began: Promise<void>;
  readonly ended: Promise<Ended>;
  readonly kill: () => void;
  /** Asks the process to stop in order. */
  readonly stop: () => void;
  readonly pid: number | undefined;
}

/** Runs the syncs of a config in a process that can be ordered to die. */
export const startDriver = (order: Order, surroundings: Surroundings): Process =>
  start(built.pathOf('test/reliability/driver.ts'), [JSON.stringify(order)], surroundings);

/** Runs `sluice` with these arguments, as users do. */
export const startSluice = (words: readonly string[], surroundings: Surroundings): Process =>
  start(built.main, words, surroundings);

function start(program: string, words: readonly string[], surroundings: Surroundings): Process {
  const startedAt = performance.now();
  const child = fork(program, [...words], {
    execArgv: [],
    cwd: surroundings.home,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      TMPDIR: process.env['TMPDIR'],
      NODE_COMPILE_CACHE: built.cache,
      ...variablesOf(surroundings),
    },
  });
  let last: Driven | undefined;
  let wrote = '';
  const keep = (text: Buffer): void => {
    wrote += text.toString();
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const began = Promise.withResolvers<void>();
  child.on('message', (said: Said) => {
    if ('began' in said) began.resolve();
    else last = said;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    began.resolve();
    return {
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      summary: last?.summary,
      notices: last?.notices ?? [],
      wrote,
      tookMs: performance.now() - startedAt,
    };
  });
  return {
    began: began.promise,
    ended,
    kill: () => void child.kill('SIGKILL'),
    stop: () => void child.kill('SIGTERM'),
    pid: child.pid,
  };
}

/** The environment of a run. */
const variablesOf = ({ serviceUrl, warehouseUrl, home }: Surroundings) => ({
  HOME: home,
  SLUICE_SERVICE_URL: serviceUrl,
  SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
  DATABASE_URL: warehouseUrl,
});

/** What a run in the caller's own process needs to be observed like a process. */
interface Observed {
  readonly onBegin: () => void;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs the syncs of a config in the caller's own process, for runs that survive: starting a process costs as much as a run. */
export const driveHere = (order: Order, surroundings: Surroundings): Process =>
  here(async ({ onBegin, write, signal }) => {
    const env = variablesOf(surroundings);
    const checkpoint = (): void => undefined;
    const { home } = surroundings;
    return { code: 0, driven: await drive(order, { env, home, onBegin, checkpoint, complain: write, signal }) };
  });

/** Runs `sluice` with these arguments in the caller's own process. */
export const sluiceHere = (words: readonly string[], surroundings: Surroundings): Process =>
  here(async ({ write, signal }) => {
    const { code, out, err } = await runInProcess(words, { env: variablesOf(surroundings), signal, newId: randomUUID });
    write(out);
    write(err);
    return { code, driven: undefined };
  });

function here(
  work: (observed: Observed) => Promise<{ readonly code: number | null; readonly driven: Driven | undefined }>,
): Process {
  const startedAt = performance.now();
  const stop = new AbortController();
  const began = Promise.withResolvers<void>();
  let wrote = '';
  const write = (text: string): void => {
    wrote += text;
  };
  const run = async (): Promise<Ended> => {
    const { code, driven } = await work({ onBegin: began.resolve, write, signal: stop.signal }).catch(
      (error: unknown) => {
        write(inspect(error));
        return { code: 1, driven: undefined };
      },
    );
    began.resolve();
    const [summary, notices] = [driven?.summary, driven?.notices ?? []];
    return { code, signal: null, summary, notices, wrote, tookMs: performance.now() - startedAt };
  };
  const end = (): void => stop.abort(new Interruption('SIGTERM'));
  return { began: began.promise, ended: run(), kill: end, stop: end, pid: process.pid };
}
