/** The meaning and the next step of each exit code, for the help and the reference. */
import { EXIT } from '../errors.ts';

interface Meaning {
  /** A short name for the help. */
  readonly short: string;
  readonly meaning: string;
  readonly next: string;
}

const exitMeanings: Readonly<Record<keyof typeof EXIT, Meaning>> = {
  complete: {
    short: 'complete',
    meaning: 'Everything was done as requested.',
    next: 'Nothing.',
  },
  bug: {
    short: 'bug',
    meaning: 'There is a bug in Sluice, or a generated file is stale (`docs --check`).',
    next: 'Run the command again with `--verbose` and report its output.',
  },
  usage: {
    short: 'usage or config',
    meaning: 'The command line or the config is wrong. Nothing was sent.',
    next: 'Fix the problem that the message names. The message also says what is allowed.',
  },
  credential: {
    short: 'credential refused',
    meaning: 'The token is missing, the service refused it, or the database refused the login.',
    next: 'Set the variable that the message names to a valid token or password.',
  },
  rejects: {
    short: 'too many rejects',
    meaning:
      'The run finished with more rejected items and inputs than `accept.rejects` allows, or with an unreadable answer.',
    next: 'List the rejects with `sluice quarantine`, fix the inputs, and load again with `sluice quarantine retry`.',
  },
  transient: {
    short: 'transient',
    meaning: 'A transient error of the service or the database, or a request whose outcome stays unknown.',
    next: 'Run the same command again later. It continues where it stopped.',
  },
  budget: {
    short: 'out of points',
    meaning: 'The budget or the points are used up. The remaining requests stay planned.',
    next: 'Raise the budget or wait for new points, then run the same command again.',
  },
  held: {
    short: 'another run holds the lease',
    meaning: 'Another process works on the same sync or uses the same embedded warehouse.',
    next: 'Wait for that process to end. The lease of a run that died is free after 15 seconds.',
  },
  schema: {
    short: 'schema not current',
    meaning: 'The warehouse’s schema is not the one that this version declares.',
    next: 'Run `sluice migrate`. If the schema is newer, use a newer version of Sluice.',
  },
};

/** Every code with its name, in ascending order. */
export const exitCodes: readonly (Meaning & { readonly code: number; readonly name: string })[] = (
  Object.keys(EXIT) as (keyof typeof EXIT)[]
).map((name) => ({ name, code: EXIT[name], ...exitMeanings[name] }));

/** The exit code after a clean drain, by handled signal. */
export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
