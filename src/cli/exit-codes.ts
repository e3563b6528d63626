/** What each exit code means and what to do about it: for the help, the reference and the schedulers that read them. */
import { EXIT } from '../errors.ts';

interface Meaning {
  /** A few words, for the help. */
  readonly short: string;
  readonly meaning: string;
  readonly next: string;
}

const exitMeanings: Readonly<Record<keyof typeof EXIT, Meaning>> = {
  complete: {
    short: 'complete',
    meaning: 'Everything that was asked for was done.',
    next: 'Nothing.',
  },
  bug: {
    short: 'bug',
    meaning: 'Sluice did something that it should not do, or a generated file is stale (`docs --check`).',
    next: 'Run the command again with `--verbose` and report what it shows.',
  },
  usage: {
    short: 'usage or config',
    meaning: 'The command line or the config is wrong. Nothing was sent.',
    next: 'Mend what the message names; it says what is allowed.',
  },
  credential: {
    short: 'credential refused',
    meaning: 'The token is missing or was refused by the service, or the database refused the login.',
    next: 'Set the variable that the message names to a valid token, or to the right password.',
  },
  rejects: {
    short: 'too many rejects',
    meaning:
      'The run finished, with more rejected items and inputs than `accept.rejects` allows, or with an answer that could not be read.',
    next: 'Read `sluice quarantine`, mend the inputs, and load again with `sluice quarantine retry`.',
  },
  transient: {
    short: 'transient',
    meaning: 'Trouble upstream or in the database that may pass, or a request whose outcome stays unknown.',
    next: 'Run the same command again later: it goes on where it stopped.',
  },
  budget: {
    short: 'out of points',
    meaning: 'The budget or the points are used up. The rest of the requests stays planned.',
    next: 'Raise the budget or wait for new points, then run the same command again.',
  },
  held: {
    short: 'another run holds the lease',
    meaning: 'Somebody else is at work on the same sync or on the same embedded warehouse.',
    next: 'Wait for them. The lease of a run that died is free after 15 seconds.',
  },
  schema: {
    short: 'schema not current',
    meaning: 'The warehouse’s schema is not the one that this version declares.',
    next: 'Run `sluice migrate`, or a newer Sluice when the schema is newer.',
  },
};

/** Every code with its name, in order. */
export const exitCodes: readonly (Meaning & { readonly code: number; readonly name: string })[] = (
  Object.keys(EXIT) as (keyof typeof EXIT)[]
).map((name) => ({ name, code: EXIT[name], ...exitMeanings[name] }));

/** The code of a process that a signal ended after a clean drain, for the signals that are waited for. */
export const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
