/**
 * The errors that a user can act on, one class for each reaction. Every message says what was found, what is allowed
 * and the next step. No message contains a secret.
 */

/** Exit codes of the command line. A run that signal n ended after a clean drain exits with `128 + n`. */
export const EXIT = {
  complete: 0,
  bug: 1,
  usage: 2,
  credential: 3,
  rejects: 4,
  transient: 5,
  budget: 6,
  held: 7,
  schema: 8,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a run that stops before its end, by the reason. */
const STOP_EXIT = {
  bug: EXIT.bug,
  usage: EXIT.usage,
  'access-refused': EXIT.credential,
  'endpoint-refused': EXIT.rejects,
  unavailable: EXIT.transient,
  'points-reached': EXIT.budget,
  held: EXIT.held,
  schema: EXIT.schema,
} as const;

/** Why a run stops before its end. `unavailable`: the service or the database fails, and a later run can succeed. */
export type StopReason = keyof typeof STOP_EXIT;

export const exitCodeOf = (reason: StopReason): ExitCode => STOP_EXIT[reason];

/** The reason that leads to this exit code. */
export const stopReasonOf = (exitCode: number): StopReason =>
  (Object.keys(STOP_EXIT) as StopReason[]).find((reason) => STOP_EXIT[reason] === exitCode) ?? 'bug';

/** An error that the user can act on. Any other thrown error is a bug. */
export abstract class SluiceError extends Error {
  abstract readonly exitCode: ExitCode;
  /** The next step, in one sentence. */
  readonly next: string | undefined;

  constructor(message: string, options: { readonly next?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.next = options.next;
  }
}

/** The command or the config is wrong, and nothing was sent. The user fixes it. */
export class UsageError extends SluiceError {
  readonly exitCode = EXIT.usage;
}

/** The service or the database refused the credential. The user replaces it. */
export class CredentialError extends SluiceError {
  readonly exitCode = EXIT.credential;
}

/** A transient error of the service or the database. The user tries again. */
export class TransientError extends SluiceError {
  readonly exitCode = EXIT.transient;
}

/** Another process works on the same sync or warehouse. The user waits for it. */
export class HeldError extends SluiceError {
  readonly exitCode = EXIT.held;
}

/** The warehouse's schema is not the one that this version declares. */
export class SchemaError extends SluiceError {
  readonly exitCode = EXIT.schema;
}
