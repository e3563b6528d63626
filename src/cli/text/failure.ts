/** Formats an error for the user, without secrets and without control characters. */
import { EXIT, SluiceError } from '../../errors.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { isRetryable } from '../exit-codes.ts';

export interface Failure {
  readonly exitCode: number;
  /** True for exit codes 5, 7 and those of signals: a scheduler may run the same command again. */
  readonly retryable: boolean;
  readonly message: string;
  readonly next: string;
  /** The stack of a bug with its causes, outermost cause last; only shown with `--verbose`. */
  readonly stack: string | undefined;
}

const REPORT = 'Run it again with --verbose, and report the stack together with the command.';

/** The failure for any thrown value. A value that is not a SluiceError is a bug. */
export function failureOf(error: unknown, redact: (text: string) => string): Failure {
  if (error instanceof SluiceError) {
    return {
      exitCode: error.exitCode,
      retryable: isRetryable(error.exitCode),
      message: redact(error.message),
      next: redact(error.next ?? ''),
      stack: undefined,
    };
  }
  const message = error instanceof Error ? error.message || error.name : String(error);
  return {
    exitCode: EXIT.bug,
    retryable: false,
    message: `this is a bug in Sluice: ${redact(message)}`,
    next: REPORT,
    stack: redact(stackOf(error)),
  };
}

/** The failure as lines, each with a line break. */
export function failureText({ message, next, stack }: Failure, verbose: boolean): string {
  const lines = [
    `sluice: ${message}`,
    ...(next === '' ? [] : [next]),
    ...(verbose && stack !== undefined ? [stack] : []),
  ];
  return lines
    .flatMap((text) => text.split('\n'))
    .map((line) => `${escapeControls(line)}\n`)
    .join('');
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${stackOf(error.cause)}`;
}
