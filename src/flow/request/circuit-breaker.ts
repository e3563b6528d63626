/** Pauses an endpoint that fails repeatedly, and gives it up when it keeps failing. */
import type { Outcome } from '../../extract/outcome.ts';
import { isRedirect } from '../../extract/retry.ts';

/** Permission to make one call. */
export interface BreakerPermit {
  /** Reports how the call went. */
  readonly report: (wentWell: boolean) => void;
  /** Reports that no call was made, unless `report` was called before. */
  readonly release: () => void;
}

/** Waits while the circuit is open; undefined if the endpoint was given up. Rejects when the signal fires. */
export type Breaker = (signal: AbortSignal) => Promise<BreakerPermit | undefined>;

/** A lower number would pause for a few bad inputs. A higher one would spend on failures that may be billed. */
const FAILURES_IN_A_ROW = 20;
const REST_MS = 30_000;
/** Together with the pauses, two minutes of failures. */
const MOST_TRIALS = 4;

/**
 * Creates a breaker for one endpoint in one run. After a pause, the first caller makes the one trial, and the others
 * wait for its end.
 */
export function openBreaker(sleep: (ms: number, signal?: AbortSignal) => Promise<void>): Breaker {
  let failures = 0;
  let trials = 0;
  let trial: Promise<void> | undefined;

  const leave = (end: () => void, isTrial: boolean): BreakerPermit => {
    let isReported = false;
    const once = (then: () => void): void => {
      if (isReported) return;
      isReported = true;
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

/** False for outcomes of a failing service: no complete answer, a 5xx, a redirect, or a 200 that is not JSON. */
export function isSuccess(outcome: Outcome): boolean {
  if (outcome.kind !== 'answered') return outcome.kind === 'unknown' && outcome.tooLarge === true;
  return !isRedirect(outcome.status) && outcome.status < 500 && (outcome.status !== 200 || looksLikeJson(outcome.body));
}

/** First character of arrays, objects and null, with the last one. */
const ENDS: ReadonlyMap<string, string> = new Map(['[]', '{}', 'nl'].map(([first = '', last = '']) => [first, last]));
const BLANK = 0x20;

/**
 * The first and last characters distinguish JSON from a page or a truncated body. Parsing a large answer twice would
 * cost too much.
 */
function looksLikeJson(body: Uint8Array): boolean {
  const first = body.find((byte) => byte > BLANK);
  const last = body.findLast((byte) => byte > BLANK);
  return (
    first !== undefined && last !== undefined && ENDS.get(String.fromCharCode(first)) === String.fromCharCode(last)
  );
}
