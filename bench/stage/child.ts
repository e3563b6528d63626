/** Runs a program to its end, and measures its time from spawn to exit and its memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { processorMsOf } from './processor-time.ts';

export interface Ran {
  /** From spawn to exit. */
  readonly wallMs: number;
  /** When it was spawned, in milliseconds since 1970, with fractions. */
  readonly spawnedAt: number;
  /** Largest resident set; NaN if the system does not report it. */
  readonly peakMb: number;
  /** Processor time of the process with all its threads; NaN if the system does not report it. */
  readonly cpuMs: number;
  readonly samples: readonly Sample[];
  readonly stdout: string;
}

export interface Sample {
  readonly atMs: number;
  readonly rssMb: number;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file for its standard input. */
  readonly input?: string;
  /** Exit codes that are not a failure (default: 0). */
  readonly codes?: readonly number[];
}

const SAMPLE_EVERY_MS = 50;
const KEPT_OF_ERRORS = 2_000;

/** The measurements and the output of the program. Throws an Error with the end of its error output if it fails. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const input = options.input === undefined ? undefined : await open(options.input);
  const startedMs = performance.now();
  const spawnedAt = performance.timeOrigin + startedMs;
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: [input?.fd ?? 'ignore', 'pipe', 'pipe'],
  });
  const watching = watch(child, startedMs);
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-KEPT_OF_ERRORS);
  });
  let endedMs = Number.NaN;
  child.on('exit', () => {
    endedMs = performance.now();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  const watched = watching.end();
  await input?.close();
  const text = Buffer.concat(stdout).toString();
  if (code === null || !(options.codes ?? [0]).includes(code)) {
    const end = stderr.trim() === '' ? text.slice(-KEPT_OF_ERRORS) : stderr;
    throw new Error(`${program} ${args.join(' ')} ended with ${signal ?? String(code)}:\n${end}`);
  }
  return { wallMs: endedMs - startedMs, spawnedAt, ...watched, stdout: text };
}

/** Samples memory and processor time from /proc; other systems than Linux have no samples. */
function watch(
  child: ChildProcess,
  startedMs: number,
): { readonly end: () => Pick<Ran, 'peakMb' | 'cpuMs' | 'samples'> } {
  const samples: Sample[] = [];
  let peakMb = Number.NaN;
  let cpuMs = Number.NaN;
  const sample = async (): Promise<void> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    const mb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    if (Number.isNaN(mb('VmRSS'))) return;
    peakMb = mb('VmHWM');
    const used = await processorMsOf(String(child.pid));
    if (!Number.isNaN(used)) cpuMs = used;
    samples.push({ atMs: performance.now() - startedMs, rssMb: mb('VmRSS') });
  };
  const timer = setInterval(() => void sample(), SAMPLE_EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      return { peakMb, cpuMs, samples };
    },
  };
}
