#!/usr/bin/env node
/** The program: from the process's words, streams and signals to its exit code. */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { channelOf } from './cli/channel.ts';
import { SIGNAL_EXIT } from './cli/exit-codes.ts';
import { failureOf, failureText } from './cli/failure.ts';
import { type AwaitedSignal, Interruption } from './cli/interruption.ts';
import { runCommandLine } from './cli/run.ts';
import { EXIT, TransientError } from './errors.ts';
import { createRedactor, secretsIn } from './ops/redact.ts';

/**
 * A key press on a terminal reaches a program that npm started twice: from the terminal, and passed on by npm. What
 * follows the first signal sooner than any hand could is taken for the same one.
 */
const SAME_PRESS_MS = 250;

const words = process.argv.slice(2);
const interruption = new AbortController();
const redactor = createRedactor(secretsIn(process.env));
const out = channelOf(process.stdout, process.env);
const err = channelOf(process.stderr, process.env);

let firstSignalAt: number | undefined;
function onSignal(name: AwaitedSignal): void {
  if (firstSignalAt === undefined) {
    firstSignalAt = performance.now();
    interruption.abort(new Interruption(name));
  } else if (performance.now() - firstSignalAt > SAME_PRESS_MS) process.exit(SIGNAL_EXIT[name]);
}
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

/** Tells what is thrown where no command can catch it, or what can't be written; gives the exit code. */
function tell(error: unknown): number {
  const failure = failureOf(error, redactor.redact);
  err.write(failureText(failure, words.includes('--verbose')));
  return failure.exitCode;
}
process.on('uncaughtException', (error) => process.exit(tell(error)));

const exitCode = await runCommandLine(words, {
  env: process.env,
  cwd: process.cwd(),
  out,
  err,
  readInput: () => text(process.stdin),
  redactor,
  signal: interruption.signal,
  now: () => new Date(),
  random: Math.random,
  newId: randomUUID,
  sleep: (ms, signal) => wait(ms, undefined, signal && { signal }),
});
const unwritten = await out.flush();
if (unwritten && exitCode === EXIT.complete) {
  const next = 'Make room for the result, and run it again.';
  process.exit(tell(new TransientError(`the result could not be written: ${unwritten.message}`, { next })));
}
await err.flush();
// What still holds the process, such as a connection of a pool, has no work left to do.
process.exit(exitCode);
