/** An error in words: for whoever has to act on it, without secrets and without anything a terminal would obey. */
import { EXIT, SluiceError } from '../../errors.ts';
import { escapeControls } from '../../text/terminal-safe.ts';

export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  readonly next: string;
  /** Where a bug arose, outermost cause last; only told on request. */
  readonly stack: string | undefined;
}

const REPORT = 'Run it again with --verbose for the stack, and report that with what you ran.';

/** What is told of anything thrown. What is no SluiceError is a bug. */
export function failureOf(error: unknown, redact: (text: string) => string): Failure {
  if (error instanceof SluiceError) {
    return {
      exitCode: error.exitCode,
      message: redact(error.message),
      next: redact(error.next ?? ''),
      stack: undefined,
    };
  }
  const said = error instanceof Error ? error.message || error.name : String(error);
  return {
    exitCode: EXIT.bug,
    message: `this is a bug in Sluice: ${redact(said)}`,
    next: REPORT,
    stack: redact(stackOf(error)),
  };
}

/** The failure as lines, each with its line break. */
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
