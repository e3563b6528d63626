/** Starts processes of Sluice and observes how they end. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Summary } from '../../src/ledger/summary.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { COMPILED } from '../support/compiled.ts';
import type { Order, Said } from './driver.ts';

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
  start(new URL('driver.ts', import.meta.url), [JSON.stringify(order)], surroundings);

/** Runs `sluice` with these arguments, as users do. */
export const startSluice = (words: readonly string[], surroundings: Surroundings): Process =>
  start(new URL('../../src/main.js', import.meta.url), words, surroundings);

function start(program: URL, words: readonly string[], { serviceUrl, warehouseUrl, home }: Surroundings): Process {
  const startedAt = performance.now();
  const child = fork(program, [...words], {
    execArgv: [],
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      TMPDIR: process.env['TMPDIR'],
      HOME: home,
      NODE_COMPILE_CACHE: COMPILED,
      SLUICE_SERVICE_URL: serviceUrl,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: warehouseUrl,
    },
  });
  let last: Extract<Said, { summary: Summary }> | undefined;
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
