/** Gives an endpoint a rest that fails in a row, and gives it up when it keeps failing. */
import type { Outcome } from '../../extract/outcome.ts';
import { isRedirect } from '../../extract/retry.ts';

/** Leave to make one call. */
export interface BreakerPermit {
  /** Says how the call went. */
  readonly report: (wentWell: boolean) => void;
  /** Says that there was no call, unless one was told of. */
  readonly release: () => void;
}

/** Waits while the endpoint rests; undefined when it was given up. Rejects when the signal fires. */
export type Breaker = (signal: AbortSignal) => Promise<BreakerPermit | undefined>;

/** Fewer would rest for one bad input among good ones; more would spend on what a broken service may bill. */
const FAILURES_IN_A_ROW = 20;
const REST_MS = 30_000;
/** With the rests between them, two minutes of failures. */
const MOST_TRIALS = 4;

/**
 * A breaker for one endpoint in one run. Whoever comes first after a rest makes the one trial, and the others wait for
 * its end.
 */
export function openBreaker(sleep: (ms: number, signal?: AbortSignal) => Promise<void>): Breaker {
  let failures = 0;
  let trials = 0;
  let trial: Promise<void> | undefined;

  const leave = (end: () => void, isTrial: boolean): BreakerPermit => {
    let told = false;
    const once = (then: () => void): void => {
      if (told) return;
      told = true;
      then();
      end();
    };
    return {
      report: (wentWell) =>
        once(() => {
          failures = wentWell ? 0 : failures + 1;
          trials = wentWell ? 0 : trials + (isTrial ? 1 : 0);
        }),
      release: () => once(() => undefined),
    };
  };

  const beginTrial = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    trial = promise;
    return () => {
      trial = undefined;
      resolve();
    };
  };

  return async (signal) => {
    for (;;) {
      signal.throwIfAborted();
      if (trials >= MOST_TRIALS) return undefined;
      if (failures < FAILURES_IN_A_ROW) return leave(() => undefined, false);
      if (trial) {
        await trial;
        continue;
      }
      const end = beginTrial();
      try {
        await sleep(REST_MS, signal);
      } catch (error) {
        end();
        throw error;
      }
      return leave(end, true);
    }
  };
}

/** False of what a service in trouble does: no whole answer, a 5xx, a redirect, or a 200 that is no JSON. */
export function isSuccess(outcome: Outcome): boolean {
  if (outcome.kind !== 'answered') return outcome.kind === 'unknown' && outcome.tooLarge === true;
  return !isRedirect(outcome.status) && outcome.status < 500 && (outcome.status !== 200 || looksLikeJson(outcome.body));
}

/** How arrays, objects and null begin, each with how it ends. */
const ENDS: ReadonlyMap<string, string> = new Map(['[]', '{}', 'nl'].map(([first = '', last = '']) => [first, last]));
const BLANK = 0x20;

/** The two ends tell a page or a cut body from JSON; reading all of a large answer for that would cost a second parse. */
function looksLikeJson(body: Uint8Array): boolean {
  const first = body.find((byte) => byte > BLANK);
  const last = body.findLast((byte) => byte > BLANK);
  return (
    first !== undefined && last !== undefined && ENDS.get(String.fromCharCode(first)) === String.fromCharCode(last)
  );
}
