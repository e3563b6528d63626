/** Starts the service of the contestants in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Latency } from './latency.ts';
import type { WorkloadName } from './workload.ts';

export interface ServeOptions {
  readonly workload: WorkloadName;
  readonly answers: number;
  readonly latency?: Latency;
  /** See `workloadOf`. */
  readonly sameSignatures?: boolean;
  /** Keeps a log of the requests, which a sync under a limit in points reads. */
  readonly keepsLog?: boolean;
}

/** Times of requests and answers since the last call, in milliseconds since 1970. */
export interface Span {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly requests: number;
  /** The greatest number of concurrent requests. */
  readonly peak: number;
  /** The time from arrival to the end of the answer, by input; only from a service with latency. */
  readonly tookMs: readonly number[];
}

export interface Service {
  readonly url: string;
  readonly pid: number;
  readonly span: () => Promise<Span>;
  readonly stop: () => Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./serve.ts', import.meta.url));

/** The service, with every answer prepared and its socket open. */
export async function startService(options: ServeOptions): Promise<Service> {
  const child = spawn(process.execPath, ['--max-old-space-size=8192', PROGRAM, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [port] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('the service of the benchmark ended before it listened'))),
  ])) as [string];
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    pid: child.pid ?? Number.NaN,
    span: async () => (await (await fetch(`${url}/bench/span`)).json()) as Span,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
