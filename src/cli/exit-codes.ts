/** The meaning of each exit code and the next step, for the help and the reference, and the signals that end a command. */
import { EXIT } from '../errors.ts';

interface Meaning {
  /** The meaning in a few words, for the help. */
  readonly short: string;
  readonly meaning: string;
  readonly next: string;
}

const exitMeanings: Readonly<Record<keyof typeof EXIT, Meaning>> = {
  complete: {
    short: 'complete',
    meaning: 'All requested work is done.',
    next: 'Nothing.',
  },
  bug: {
    short: 'bug',
    meaning: 'There is a bug in Sluice, or a generated file is stale (`docs --check`).',
    next: 'Report the output of the command with `--verbose`. After `docs --check`, run `npm run docs`.',
  },
  usage: {
    short: 'usage or config',
    meaning:
      'The command line, the config or a file that it names is wrong. Nothing was sent for the syncs that the message names; other syncs of the command may have run.',
    next: 'Fix what the message names; it also says what is allowed.',
  },
  credential: {
    short: 'credential refused',
    meaning: 'The token is missing, the service refused it, or the database refused the login.',
    next: 'Set the variable in the message to a valid token or the correct password.',
  },
  rejects: {
    short: 'too many rejects',
    meaning:
      'The run finished, but more items and inputs were rejected than `accept.rejects` allows, an answer could not be read, or the pages of the request log did not lead to its end. Also if a check of severity `error` failed; the rows stay loaded. With `--fail-on-truncated`, also if more items may exist than the service returned. With `plan --against OTHER --fail-above POINTS`: a month costs over POINTS more than OTHER.',
    next: 'List what was rejected with `sluice status` and `sluice quarantine`. Fix the inputs and run `sluice sync --failed`; after an update of Sluice, run `sluice quarantine retry`. If answers were truncated, add `window` or `split_by`, or raise `count`. After a failed check, read `check_status`. After `plan`, review the change of the config.',
  },
  transient: {
    short: 'transient',
    meaning: 'A transient error of the service or the database, or a request whose outcome is unknown.',
    next: 'Run the command again later: it continues the runs that did not finish. Finished syncs start again, so give them a `max_age`, or name the others. If the message names a spool, a disk or `in_doubt`, do first what it says.',
  },
  budget: {
    short: 'out of points',
    meaning: 'The budget or the points are used up. The remaining requests stay planned.',
    next: 'Raise the budget or wait for points, then run the command again. After 24 hours it makes a new plan; `max_age` keeps paid answers.',
  },
  held: {
    short: 'another run holds the lease',
    meaning: 'Another process holds the same sync or the same embedded warehouse.',
    next: 'Wait for the other process. The lease of a process that died expires within 15 seconds.',
  },
  schema: {
    short: 'schema not current',
    meaning: 'The schema of the warehouse differs from the one that this version declares.',
    next: 'Run `sluice migrate`. If the schema is newer, update Sluice; if it was changed by hand, revert the change.',
  },
};

/** True for exit codes 5, 7 and those of signals: a scheduler may run the same command again. */
export const isRetryable = (exitCode: number): boolean =>
  exitCode === EXIT.transient || exitCode === EXIT.held || Object.values<number>(SIGNAL_EXIT).includes(exitCode);

/** The result with `retryable`, by its exit code. */
export const withRetryable = <T extends { readonly exitCode: number | null }>(result: T): T & Retryable => ({
  ...result,
  retryable: result.exitCode !== null && isRetryable(result.exitCode),
});

interface Retryable {
  /** True for exit codes 5, 7 and those of signals: a scheduler may run the same command again. */
  readonly retryable: boolean;
}

/** Every exit code with its name and meaning, in order. */
export const exitCodes: readonly (Meaning & { readonly code: number; readonly name: string })[] = (
  Object.keys(EXIT) as (keyof typeof EXIT)[]
).map((name) => ({ name, code: EXIT[name], ...exitMeanings[name] }));

/** The exit code of a process that a signal ended after a clean drain, for each handled signal. */
export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type AwaitedSignal = keyof typeof SIGNAL_EXIT;

export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: AwaitedSignal) {
    super(`${signal}: ending in order; a second signal ends the process immediately`);
    this.name = 'Interruption';
    this.exitCode = SIGNAL_EXIT[signal];
  }
}

/** The signal that ended the command, by its AbortSignal; undefined if none did. */
export function interruptionOf(signal: AbortSignal): Interruption | undefined {
  const reason: unknown = signal.reason;
  return reason instanceof Interruption ? reason : undefined;
}
