/** Runs the real program as a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtProgram, SOURCES } from '../support/built.ts';

const built = await builtProgram();

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Nothing else of the test's own environment reaches the program but PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Leaves the input open after that. */
  readonly keepsInput?: boolean;
  /** Runs the sources instead of the bundle, for tests of what a checkout does. */
  readonly fromSources?: boolean;
  /** Options of Node itself. */
  readonly node?: readonly string[];
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with what was written so far as soon as it holds the text; rejects when the program ends without it. */
  readonly said: (stream: 'out' | 'err', expected: string) => Promise<string>;
  readonly ended: Promise<Ran>;
}

/** Starts the program. */
export function start(
  words: readonly string[],
  { cwd, env = {}, input = '', keepsInput, node = [], fromSources }: RunOptions,
): Running {
  const { main, cache } = fromSources === true ? SOURCES : built;
  const child = spawn(process.execPath, [...node, main, ...words], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: cache, ...env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(input);
  if (keepsInput !== true) child.stdin.end();
  const ended = (async (): Promise<Ran> => {
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, out, err };
  })();
  const said = (stream: 'out' | 'err', expected: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let written = '';
      const source = stream === 'out' ? child.stdout : child.stderr;
      source.on('data', (chunk: Buffer) => {
        written += chunk.toString();
        if (written.includes(expected)) resolve(written);
      });
      child.once('close', () => reject(new Error(`ended without saying ${expected}: ${written}`)));
    });
  return { child, said, ended };
}

/** Runs the program to its end. */
export const run = (words: readonly string[], options: RunOptions): Promise<Ran> => start(words, options).ended;

/** A folder of a test's own. */
export async function temporaryFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
