/** Runs a command line inside the test's own process. */
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { runCommandLine } from '../../src/cli/run.ts';
import { createRedactor, secretsIn } from '../../src/telemetry/redact-secrets.ts';
import { keptChannel } from './channels.ts';
import type { Ran } from './program-run.ts';

export interface InProcessOptions {
  /** The working folder while the command runs (default: that of the test). No other command may run meanwhile. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Readable;
  /** The answers of the person at the terminal, in order; absent, there is no terminal. */
  readonly answers?: readonly string[];
  /** Width of the terminals that both streams are; absent, they are none. */
  readonly columns?: number;
  readonly color?: boolean;
  /** Receives what is written to standard output at once. */
  readonly onOut?: (text: string) => void;
  /** Whether the reader of standard output is still there; absent, it is. */
  readonly isOpen?: () => boolean;
  readonly signal?: AbortSignal;
  /** The wall clock of process and database; absent, the machine's. */
  readonly now?: () => Date;
  /** Only the clock of the process; the database keeps its own. */
  readonly processNow?: () => Date;
  /** Makes ids; absent, they are numbered, and so are equal in two runs. */
  readonly newId?: () => string;
  /** Replaces waiting. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** What the command line did. */
export async function runInProcess(words: readonly string[], options: InProcessOptions = {}): Promise<Ran> {
  const before = process.cwd();
  process.chdir(options.cwd ?? before);
  try {
    return await runHere(words, options);
  } finally {
    process.chdir(before);
  }
}

async function runHere(words: readonly string[], options: InProcessOptions): Promise<Ran> {
  const {
    env = {},
    input = '',
    onOut,
    answers,
    columns,
    color = false,
    signal = new AbortController().signal,
  } = options;
  const { now, processNow = now ?? (() => new Date()) } = options;
  const [out, err] = [keptChannel(columns, color, options.isOpen, onOut), keptChannel(columns, color)];
  const left = [...(answers ?? [])];
  const ask = (question: string): Promise<string> => {
    err.write(question);
    const answer = left.shift();
    return answer === undefined ? Promise.reject(new Error(`nobody answers ${question}`)) : Promise.resolve(answer);
  };
  let ids = 0;
  const code = await runCommandLine(words, {
    env,
    cwd: process.cwd(),
    out,
    err,
    input: typeof input === 'string' ? Readable.from([input]) : input,
    ask: answers && ask,
    redactor: createRedactor(secretsIn(env)),
    signal,
    now: processNow,
    ...(processNow !== now && { elapsedMs: () => performance.now() }),
    ...(now && { databaseNow: now }),
    random: () => 0.5,
    newId: options.newId ?? (() => `00000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`),
    sleep: options.sleep ?? ((ms, on) => wait(ms, undefined, on && { signal: on })),
  });
  return { code, out: out.text(), err: err.text() };
}
