/** Decides what follows a run: whether its sync is tried again, and when. */
import { EXIT } from '../errors.ts';

/** What to do after a run. */
export type JobDecision =
  /** The run succeeded, and dependent syncs may start. */
  | { readonly do: 'follow' }
  /** Nothing follows now. The next firing continues the run, or makes a new one. */
  | { readonly do: 'rest' }
  | { readonly do: 'again'; readonly afterSeconds: number; readonly tries: number }
  /** The error needs a person. */
  | { readonly do: 'give up' };

/** How a run ended. */
export interface EndOfRun {
  readonly exitCode: number;
  /** Its state in the ledger; undefined if no run was recorded. */
  readonly state: string | undefined;
}

/** Waits double from the first to the longest. After the last try, about three hours later, a person must act. */
const FIRST_WAIT_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 1800;
export const MOST_TRIES = 12;
/** Slightly longer than the lease of a dead process. */
export const RETRY_HELD_SECONDS = 15;
/** Short, because a worker with the config of the run finds no work while its chunks wait. */
export const RETRY_OUTDATED_SECONDS = 5;
/**
 * How long the lease of a run has expired before a worker with another config takes the run over. Workers with several
 * configs share the chunks by chance. If a run were taken over at the expiry, they would abandon each other's runs, and buy
 * again each time what has no max_age.
 */
export const LEFT_AFTER_IDLE_MS = 60_000;

/**
 * True if a run ended with a transient error that another try can repair. A partial run is over: it only lists lost
 * answers (`in_doubt: stop`), and another try would buy the complete sync again.
 */
export const isTransient = ({ exitCode, state }: EndOfRun): boolean =>
  exitCode === EXIT.transient && state !== 'partial';

/** Decides by the end of a run what follows it; `tries` counts earlier runs that ended with a transient error. */
export function decideAfter(end: EndOfRun, tries: number, random: () => number): JobDecision {
  switch (end.exitCode) {
    case EXIT.complete:
    case EXIT.rejects:
      return { do: 'follow' };
    case EXIT.budget:
      return { do: 'rest' };
    case EXIT.held:
      return { do: 'again', afterSeconds: RETRY_HELD_SECONDS, tries };
    case EXIT.transient: {
      if (!isTransient(end)) return { do: 'rest' };
      if (tries >= MOST_TRIES) return { do: 'give up' };
      const most = Math.min(FIRST_WAIT_SECONDS * 2 ** tries, LONGEST_WAIT_SECONDS);
      // Half of the wait is random, so that syncs that failed together do not retry together.
      return { do: 'again', afterSeconds: Math.ceil(most * (0.5 + random() / 2)), tries: tries + 1 };
    }
    default:
      return { do: 'give up' };
  }
}
