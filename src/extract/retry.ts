/**
 * Decides what follows an attempt: a pure function of its outcome, the earlier attempts and the policy. The caller runs
 * the loop over attempts; `docs/retries.md` documents the decisions.
 */
import type { StopReason } from '../errors.ts';
import { printable, serviceText, statedCause } from './failure.ts';
import type { AnsweredOutcome, Outcome } from './outcome.ts';
import { backoffMs, boundedRetryAfterMs, retryAfterMs, type RetryWaits } from './wait.ts';

/** The state of a request after an attempt. */
export interface Attempt {
  /** The number of this attempt, from 1. */
  readonly number: number;
  /** Attempts of earlier invocations for the same run, if the last of them ended with a failure that may be billed. */
  readonly earlierAttempts: number;
  /** Attempts so far that followed a paid retry or a lost answer. */
  readonly paidRetries: number;
  /** Attempts so far that followed any other retry. */
  readonly unpaidRetries: number;
  /** Earlier invocations that ended without an answer to this request. */
  readonly lostInvocations: number;
  /** True if the service has answered another request to the endpoint in this invocation. */
  readonly endpointAnswered: boolean;
}

export interface RetryPolicy {
  /** Retries that may be billed again. */
  readonly retries: number;
  /** Retries after attempts that were certainly not billed. */
  readonly unpaidRetries: number;
  /** The maximum number of attempts of one request, of any kind. */
  readonly maxAttempts: number;
  /** After a lost answer: send the request again as a paid retry, or list it. */
  readonly inDoubt: 'reconcile' | 'stop';
  readonly waits: RetryWaits;
}

/** The default policy with this number of paid retries (`service.retries`). */
export const retryPolicy = (retries: number, inDoubt: RetryPolicy['inDoubt'] = 'reconcile'): RetryPolicy => ({
  retries,
  inDoubt,
  // Waits of up to 1, 2, 4, 8 and 16 s outlast a restart of the service. More retries would delay a run whose service
  // is down permanently.
  unpaidRetries: 5,
  maxAttempts: retries + 6,
  waits: { minMs: 250, firstMs: 1000, maxMs: 60_000, maxRetryAfterMs: 300_000 },
});

export type FailureClass =
  | 'redirected'
  | 'forbidden'
  | 'not_found'
  | 'unsupported'
  | 'rejected'
  /** The service was reachable but failed; a later run may succeed. */
  | 'unavailable'
  /** The service fails for this input again and again. */
  | 'failing'
  | 'too_large';

export type Decision =
  /** Store the answer and read it. An unreadable answer is quarantined and not requested again in this run. */
  | { readonly do: 'keep' }
  /** The service knows no such entity. This is an outcome of its own, not a failure. */
  | { readonly do: 'missing'; readonly because: string }
  /** `paid`: the next attempt counts as a paid retry, else as a certainly unpaid one. */
  | { readonly do: 'retry'; readonly afterMs: number; readonly paid: boolean; readonly because: string }
  /**
   * `scope`: only this input failed, or further requests to this endpoint are useless in this run. `unpaid`: the attempt
   * was certainly free.
   */
  | {
      readonly do: 'fail';
      readonly class: FailureClass;
      readonly scope: 'input' | 'endpoint';
      readonly unpaid?: boolean;
      readonly because: string;
      readonly next: string;
    }
  /** No further request is possible in this run. Open requests stay planned. */
  | {
      readonly do: 'stop';
      readonly reason: Extract<StopReason, 'access-refused' | 'unavailable' | 'points-reached'>;
      readonly because: string;
      readonly next: string;
    }
  /** It may have been bought. `againAfterMs` is the wait before a paid retry; undefined if this run does not retry. */
  | { readonly do: 'lost'; readonly because: string; readonly againAfterMs: number | undefined };

type Rule =
  | { readonly rule: 'keep' | 'missing' | 'unpaid' | 'transient' | 'token' | 'payment' | 'redirected' }
  | {
      readonly rule: 'permanent';
      readonly class: FailureClass;
      readonly scope: 'input' | 'endpoint';
      readonly next: string;
    };

const CHECK_INPUT = 'Fix or remove this input; the request was not repeated.';
const REDIRECTED: Rule = { rule: 'redirected' };
const REJECTED: Rule = { rule: 'permanent', class: 'rejected', scope: 'input', next: CHECK_INPUT };

/** A smaller limit would give up during a short outage. A larger one would pay again for an input that always fails. */
export const MAX_LOST_INVOCATIONS = 3;

/** The next step for an input without any answer. */
export const LOST_AGAIN_REASON =
  'No answer to this input arrives, and each attempt may be billed: fix or remove the input, or try once more with --refresh.';

/** Statuses that point to another address. 304 does not, and 305 and 306 are obsolete. */
const REDIRECTS: readonly number[] = [300, 301, 302, 303, 307, 308];

/** True if the status points to another address. */
export const isRedirect = (status: number): boolean => REDIRECTS.includes(status);

/** Assumed: the meaning of each status, observed at similar services. The contract documents only success. */
const BY_STATUS: Readonly<Record<number, Rule>> = {
  401: { rule: 'token' },
  402: { rule: 'payment' },
  403: {
    rule: 'permanent',
    class: 'forbidden',
    scope: 'endpoint',
    next: 'Change to a plan that includes this endpoint, or remove its syncs.',
  },
  404: { rule: 'permanent', class: 'not_found', scope: 'input', next: CHECK_INPUT },
  408: { rule: 'transient' },
  412: { rule: 'missing' },
  415: { rule: 'permanent', class: 'unsupported', scope: 'input', next: CHECK_INPUT },
  422: REJECTED,
  429: { rule: 'unpaid' },
  503: { rule: 'unpaid' },
};

const BY_FAMILY: Readonly<Record<number, Rule>> = {
  2: { rule: 'keep' },
  // Redirects are handled before. Requests have no condition that 304 could answer.
  3: REJECTED,
  4: REJECTED,
  5: { rule: 'transient' },
};

const LATER = 'Run the sync again later; stored answers are kept and not bought again.';

/**
 * The next step after this attempt. A loop that follows these decisions makes at most `policy.maxAttempts` attempts.
 */
export function decide(outcome: Outcome, attempt: Attempt, policy: RetryPolicy, random: () => number): Decision {
  switch (outcome.kind) {
    case 'answered':
      return afterAnswer(outcome, attempt, policy, random);
    case 'not_sent':
      return mayRetry('unpaid', attempt, policy)
        ? {
            do: 'retry',
            afterMs: backoffMs(attempt.number, policy.waits, random),
            paid: false,
            because: outcome.reason,
          }
        : {
            do: 'stop',
            reason: 'unavailable',
            because: `the service could not be reached: ${outcome.reason}`,
            next: 'Check service.url and the network, then run the sync again; nothing was spent.',
          };
    case 'unknown':
      if (outcome.tooLarge) {
        const next =
          'Request less at once, with a smaller count or fewer options; the same request would be billed again.';
        return { do: 'fail', class: 'too_large', scope: 'input', because: outcome.reason, next };
      }
      return afterLoss(outcome.reason, attempt, policy, random);
  }
}

function afterLoss(because: string, attempt: Attempt, policy: RetryPolicy, random: () => number): Decision {
  if (policy.inDoubt === 'reconcile' && mayRetry('transient', attempt, policy))
    return { do: 'lost', because, againAfterMs: backoffMs(attempt.number, policy.waits, random) };
  return attempt.lostInvocations + 1 >= MAX_LOST_INVOCATIONS
    ? { do: 'fail', class: 'failing', scope: 'input', because, next: LOST_AGAIN_REASON }
    : { do: 'lost', because, againAfterMs: undefined };
}

function afterAnswer(answer: AnsweredOutcome, attempt: Attempt, policy: RetryPolicy, random: () => number): Decision {
  const rule = isRedirect(answer.status)
    ? REDIRECTED
    : (BY_STATUS[answer.status] ?? BY_FAMILY[Math.floor(answer.status / 100)] ?? REJECTED);
  // Decided before the body is parsed for a reason, since parsing is the most expensive step here.
  if (rule.rule === 'keep') return { do: 'keep' };
  const because = statedReason(answer);
  switch (rule.rule) {
    case 'missing':
      return { do: 'missing', because };
    case 'permanent':
      return { do: 'fail', class: rule.class, scope: rule.scope, because, next: rule.next };
    case 'redirected':
      return redirected(answer, attempt);
    case 'token':
    case 'payment':
      return refused(answer, rule.rule);
    case 'unpaid':
    case 'transient': {
      if (!mayRetry(rule.rule, attempt, policy)) return giveUp(rule.rule, attempt, policy, because);
      const requestedMs = retryAfterMs(answer.headers['retry-after'], answer.receivedAt);
      const afterMs =
        requestedMs === undefined
          ? backoffMs(attempt.number, policy.waits, random)
          : boundedRetryAfterMs(requestedMs, policy.waits, random);
      return { do: 'retry', afterMs, paid: rule.rule === 'transient', because };
    }
  }
}

function giveUp(
  kind: 'unpaid' | 'transient',
  { earlierAttempts, paidRetries }: Attempt,
  { retries }: RetryPolicy,
  because: string,
): Decision {
  // Refused attempts (429, 503) and those that never left say nothing about the input.
  const failed = earlierAttempts + paidRetries + 1;
  const isHopeless = kind === 'transient' && failed >= MAX_LOST_INVOCATIONS * (retries + 1);
  return isHopeless
    ? { do: 'fail', class: 'failing', scope: 'input', because, next: CHECK_INPUT }
    : { do: 'fail', class: 'unavailable', scope: 'input', unpaid: kind === 'unpaid', because, next: LATER };
}

function mayRetry(kind: 'unpaid' | 'transient', attempt: Attempt, policy: RetryPolicy): boolean {
  if (attempt.number >= policy.maxAttempts) return false;
  return kind === 'unpaid' ? attempt.unpaidRetries < policy.unpaidRetries : attempt.paidRetries < policy.retries;
}

function statedReason({ status, body, headers }: AnsweredOutcome): string {
  const text = serviceText(body, headers);
  return text === '' ? `the service answered ${status} and gave no reason` : `the service answered ${status}: ${text}`;
}

function redirected({ status, headers }: AnsweredOutcome, { endpointAnswered }: Attempt): Decision {
  const to = printable(headers['location'] ?? '');
  const because = `the service redirected to another address (${status}); the token was not sent there`;
  const check = to === '' ? 'Check service.url.' : `Check service.url; the service points to ${to}.`;
  return endpointAnswered
    ? {
        do: 'fail',
        class: 'redirected',
        scope: 'input',
        because,
        next: `The endpoint answered other inputs: fix or remove this one${to === '' ? '' : `, which the service points to ${to} for`}.`,
      }
    : { do: 'fail', class: 'redirected', scope: 'endpoint', because, next: check };
}

// Matches "points" as a word or as part of a code such as POINTS_LIMIT, but not in "endpoints".
const ABOUT_POINTS = /(?<![a-z])(?:points|credits|balance|quota)/i;
const ABOUT_TOKEN = /token|api.?key|expired|unauthori[sz]ed|credential/i;

/**
 * The stop after a refusal: out of points, or a bad token. 401 means the token and 402 means points, unless the answer
 * says otherwise.
 */
function refused(answer: AnsweredOutcome, defaultMeaning: 'token' | 'payment'): Decision {
  const stated = statedCause(answer.body, answer.headers);
  const outOfPoints = ABOUT_POINTS.test(stated) || (defaultMeaning === 'payment' && !ABOUT_TOKEN.test(stated));
  return outOfPoints
    ? {
        do: 'stop',
        reason: 'points-reached',
        because: statedReason(answer),
        next: 'Add points to the account, or wait until it has points again; open requests stay planned.',
      }
    : {
        do: 'stop',
        reason: 'access-refused',
        because: statedReason(answer),
        next: 'Put a valid API token of the account into the variable that service.token names.',
      };
}
