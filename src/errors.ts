/**
 * What can go wrong, by what the caller should do next. Every message says what was found, what is allowed and the
 * next step; none holds a secret.
 */

/** Exit codes of the command line; `128 + n` is for a run that signal n ended after a clean drain. */
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

/** An error that its reader can act on; anything else that is thrown is a bug. */
export class SluiceError extends Error {
  readonly exitCode: ExitCode;
  /** What to do next, in one sentence. */
  readonly next: string | undefined;

  constructor(exitCode: ExitCode, message: string, options: { readonly next?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.next = options.next;
  }
}

type Options = ConstructorParameters<typeof SluiceError>[2];

/** The command or the config is wrong: mend it. Nothing was sent. */
export class UsageError extends SluiceError {
  constructor(message: string, options?: Options) {
    super(EXIT.usage, message, options);
  }
}

/** The service or the database refused the credential: replace it. */
export class CredentialError extends SluiceError {
  constructor(message: string, options?: Options) {
    super(EXIT.credential, message, options);
  }
}

/** Trouble upstream or in the database that may pass: try again. */
export class TransientError extends SluiceError {
  constructor(message: string, options?: Options) {
    super(EXIT.transient, message, options);
  }
}

/** Somebody else is at work on the same thing: wait for them. */
export class HeldError extends SluiceError {
  constructor(message: string, options?: Options) {
    super(EXIT.held, message, options);
  }
}

/** The warehouse's schema is not the one this version knows. */
export class SchemaError extends SluiceError {
  constructor(message: string, options?: Options) {
    super(EXIT.schema, message, options);
  }
}
