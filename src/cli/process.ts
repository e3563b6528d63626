/** The process around a command line: arguments, streams, signals and the exit code. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, TransientError } from '../errors.ts';
import { createRedactor, secretsIn } from '../telemetry/redact-secrets.ts';
import { callersFolder } from './package.ts';
import { channelOf } from './terminal/channel.ts';
import { SIGNAL_EXIT, type AwaitedSignal, Interruption } from './exit-codes.ts';
import { askerOf } from './terminal/question.ts';
import { reportFor, runCommandLine } from './run.ts';

/**
 * If npm started the program, one key press sends two signals: from the terminal and from npm. A signal within this time
 * after the first one counts as the same key press.
 */
const SAME_PRESS_MS = 250;

/** Runs the command line of the process, and ends the process with `exit`, also after a signal or an uncaught error. */
export async function runProcess(exit: (code: number) => never): Promise<never> {
  const words = process.argv.slice(2);
  const folder = callersFolder(process.env);
  if (folder !== undefined) process.chdir(folder);
  const redactor = createRedactor(secretsIn(process.env));
  const out = channelOf(process.stdout, process.env);
  const err = channelOf(process.stderr, process.env);
  const signal = abortedBySignals(exit);
  const now = (): Date => new Date();
  /** Reports an error that no command caught, or a failed write, and returns the exit code. */
  const reportError = (error: unknown): Promise<number> => reportFor(words, error, { err, redactor, now });
  process.on('uncaughtException', (error) => {
    void reportError(error).then(exit, () => exit(EXIT.bug));
  });

  const exitCode = await runCommandLine(words, {
    env: process.env,
    cwd: process.cwd(),
    out,
    err,
    input: process.stdin,
    ask: askerOf({ input: process.stdin, output: err, signal }),
    redactor,
    signal,
    now,
    elapsedMs: () => performance.now(),
    random: Math.random,
    newId: randomUUID,
    sleep: (ms, until) => wait(ms, undefined, until && { signal: until }),
  });
  const unwritten = await out.flush();
  if (unwritten && exitCode === EXIT.complete) {
    const next = 'Free space for the result, and run the command again.';
    exit(await reportError(new TransientError(`the result could not be written: ${unwritten.message}`, { next })));
  }
  await err.flush();
  // The explicit exit ends handles that keep the process alive without work, such as pooled connections.
  return exit(exitCode);
}

/**
 * A signal that aborts at the first signal of `SIGNAL_EXIT`. The second one ends the process immediately. Node resets ignored
 * signals at its start, so without this a closed terminal would end the process during paid calls, also under nohup.
 */
function abortedBySignals(exit: (code: number) => never): AbortSignal {
  const interruption = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: AwaitedSignal): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      interruption.abort(new Interruption(name));
    } else if (performance.now() - firstAt > SAME_PRESS_MS) exit(SIGNAL_EXIT[name]);
  };
  for (const name of Object.keys(SIGNAL_EXIT) as AwaitedSignal[]) process.on(name, onSignal);
  return interruption.signal;
}
