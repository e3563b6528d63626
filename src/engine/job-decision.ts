/** What follows from how a run ended: whether its sync is tried again, and when. */
import { EXIT } from '../errors.ts';

/** What is to be done after a run. */
export type JobDecision =
  /** It is done, and those that wait for it may begin. */
  | { readonly do: 'follow' }
  /** It is done for now; the next firing goes on with it. */
  | { readonly do: 'rest' }
  | { readonly do: 'again'; readonly afterSeconds: number; readonly tries: number }
  /** Nothing but somebody's hand mends it. */
  | { readonly do: 'give up' };

/** Waits double from the first to the longest; after the last of these, some three hours on, a person is due. */
const FIRST_WAIT_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 1800;
const MOST_TRIES = 12;
/** How long a lease of a process that died lasts, and a little. */
export const RETRY_HELD_SECONDS = 15;

/** The step that an exit code asks for, of a run that met passing trouble so many times before. */
export function decideAfter(exitCode: number, tries: number, random: () => number): JobDecision {
  switch (exitCode) {
    case EXIT.complete:
    case EXIT.rejects:
      return { do: 'follow' };
    case EXIT.budget:
      return { do: 'rest' };
    case EXIT.held:
      return { do: 'again', afterSeconds: RETRY_HELD_SECONDS, tries };
    case EXIT.transient: {
      if (tries >= MOST_TRIES) return { do: 'give up' };
      const most = Math.min(FIRST_WAIT_SECONDS * 2 ** tries, LONGEST_WAIT_SECONDS);
      // Half of it by chance, so that those that failed together don't come back together.
      return { do: 'again', afterSeconds: Math.ceil(most * (0.5 + random() / 2)), tries: tries + 1 };
    }
    default:
      return { do: 'give up' };
  }
}
