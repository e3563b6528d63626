/** The process around a command line: its words, streams and signals, and the exit code that it ends with. */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, TransientError } from '../errors.ts';
import { createRedactor, secretsIn } from '../telemetry/redact-secrets.ts';
import { callersFolder } from './callers-folder.ts';
import { channelOf } from './terminal/channel.ts';
import { SIGNAL_EXIT } from './exit-codes.ts';
import { failureOf, failureText } from './text/failure.ts';
import { type AwaitedSignal, Interruption } from './interruption.ts';
import { askerOf } from './terminal/question.ts';
import { runCommandLine } from './run.ts';

/**
 * A key press on a terminal reaches a program that npm started twice: from the terminal, and passed on by npm. What
 * follows the first signal sooner than any hand could is taken for the same one.
 */
const SAME_PRESS_MS = 250;

/** Runs the command that the process was started with, and ends with `exit`, also from a signal or an uncaught error. */
export async function runProcess(exit: (code: number) => never): Promise<never> {
  const words = process.argv.slice(2);
  const folder = callersFolder(process.env);
  if (folder !== undefined) process.chdir(folder);
  const redactor = createRedactor(secretsIn(process.env));
  const out = channelOf(process.stdout, process.env);
  const err = channelOf(process.stderr, process.env);
  const signal = abortedBySignals(exit);
  /** Tells what is thrown where no command can catch it, or what can't be written; gives the exit code. */
  const tell = (error: unknown): number => {
    const failure = failureOf(error, redactor.redact);
    err.write(failureText(failure, words.includes('--verbose')));
    return failure.exitCode;
  };
  process.on('uncaughtException', (error) => exit(tell(error)));

  const exitCode = await runCommandLine(words, {
    env: process.env,
    cwd: process.cwd(),
    out,
    err,
    readInput: () => text(process.stdin),
    ask: askerOf({ input: process.stdin, output: err, signal }),
    redactor,
    signal,
    now: () => new Date(),
    elapsedMs: () => performance.now(),
    random: Math.random,
    newId: randomUUID,
    sleep: (ms, until) => wait(ms, undefined, until && { signal: until }),
  });
  const unwritten = await out.flush();
  if (unwritten && exitCode === EXIT.complete) {
    const next = 'Make room for the result, and run it again.';
    exit(tell(new TransientError(`the result could not be written: ${unwritten.message}`, { next })));
  }
  await err.flush();
  // What still holds the process, such as a connection of a pool, has no work left to do.
  return exit(exitCode);
}

/** Aborts with the first SIGINT or SIGTERM; another one ends the process at once. */
function abortedBySignals(exit: (code: number) => never): AbortSignal {
  const interruption = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: AwaitedSignal): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      interruption.abort(new Interruption(name));
    } else if (performance.now() - firstAt > SAME_PRESS_MS) exit(SIGNAL_EXIT[name]);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return interruption.signal;
}
