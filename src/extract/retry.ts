/**
 * What follows from an attempt: a pure decision from its outcome, the attempts before it and the policy. The loop over
 * attempts is the composer's; `docs/retries.md` shows this table to people.
 */
import { EXIT } from '../errors.ts';
import { printable, serviceText, statedCause } from './failure.ts';
import type { AnsweredOutcome, Outcome } from './outcome.ts';
import { backoffMs, boundedRetryAfterMs, retryAfterMs, type RetryWaits } from './wait.ts';

/** Where a request stands after an attempt. */
export interface Attempt {
  /** Of the attempt just made, from 1. */
  readonly number: number;
  /** Attempts that earlier processes made for the same run. */
  readonly earlierAttempts: number;
  /** Attempts so far that followed a retry with `paid`, or a doubt. */
  readonly paidRetries: number;
  /** Attempts so far that followed any other retry. */
  readonly unpaidRetries: number;
  /** Earlier invocations that ended without its answer. */
  readonly lostInvocations: number;
  /** Whether the service has answered another request to the endpoint in this invocation. */
  readonly endpointAnswered: boolean;
}

export interface RetryPolicy {
  /** Retries that may be billed once more. */
  readonly retries: number;
  /** Retries after what was surely not billed. */
  readonly unpaidRetries: number;
  /** Of one request, of any kind. */
  readonly maxAttempts: number;
  /** What follows a lost answer: it is asked again as a paid retry, or stays listed. */
  readonly inDoubt: 'reconcile' | 'stop';
  readonly waits: RetryWaits;
}

/** The shipped policy with this many paid retries (`service.retries`). */
export const retryPolicy = (retries: number, inDoubt: RetryPolicy['inDoubt'] = 'reconcile'): RetryPolicy => ({
  retries,
  inDoubt,
  // Waits of up to 1, 2, 4, 8 and 16 s: outlasts a restart of the service. Fewer give up on one; more hold up a run
  // whose service is down for good.
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
  /** The service was there and did not manage; a later run may. */
  | 'unavailable'
  /** It keeps failing at this very input. */
  | 'failing'
  | 'too_large';

export type Decision =
  /** Store the answer and read it; one that can't be read is quarantined and not asked for again in this run. */
  | { readonly do: 'keep' }
  /** The service knows no such thing: an outcome of its own, no failure. */
  | { readonly do: 'missing'; readonly because: string }
  /** `paid`: the attempt that follows counts as a paid retry, else as a surely unpaid one. */
  | { readonly do: 'retry'; readonly afterMs: number; readonly paid: boolean; readonly because: string }
  /** `scope`: whether only this input failed, or asking this endpoint anything more is of no use in this run. */
  | {
      readonly do: 'fail';
      readonly class: FailureClass;
      readonly scope: 'input' | 'endpoint';
      readonly because: string;
      readonly next: string;
    }
  /** Nothing more can be asked in this run; what is open stays planned. */
  | {
      readonly do: 'stop';
      readonly exit: typeof EXIT.credential | typeof EXIT.transient | typeof EXIT.budget;
      readonly because: string;
      readonly next: string;
    }
  /** It may have been bought. `againAfterMs` is the wait before asking again as a paid retry; undefined: no more in this run. */
  | { readonly do: 'doubt'; readonly because: string; readonly againAfterMs: number | undefined };

type Rule =
  | { readonly rule: 'keep' | 'missing' | 'unpaid' | 'transient' | 'token' | 'payment' | 'redirected' }
  | {
      readonly rule: 'permanent';
      readonly class: FailureClass;
      readonly scope: 'input' | 'endpoint';
      readonly next: string;
    };

const CHECK_INPUT = 'Mend or remove this input; nothing was asked again.';
const REDIRECTED: Rule = { rule: 'redirected' };
const REJECTED: Rule = { rule: 'permanent', class: 'rejected', scope: 'input', next: CHECK_INPUT };

/** Fewer would give up on a bad hour; more would pay for an input that breaks the service again and again. */
export const MAX_LOST_INVOCATIONS = 3;

/** What to do about an input of which no answer arrives. */
export const LOST_AGAIN_REASON =
  'No answer to this input arrives, and each attempt may be billed: correct or remove the input, or ask once more with --refresh.';

/** Statuses that point to another address. 304 points nowhere, and 305 and 306 are out of use. */
const REDIRECTS: readonly number[] = [300, 301, 302, 303, 307, 308];

/** True of a status that points to another address. */
export const isRedirect = (status: number): boolean => REDIRECTS.includes(status);

/** Assumed: what each status means, seen at services of this shape; the contract shows none but success. */
const BY_STATUS: Readonly<Record<number, Rule>> = {
  401: { rule: 'token' },
  402: { rule: 'payment' },
  403: {
    rule: 'permanent',
    class: 'forbidden',
    scope: 'endpoint',
    next: 'Choose a plan for the account that allows this endpoint, or remove its syncs.',
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
  // Without redirects. No request of ours has a condition that 304 could answer.
  3: REJECTED,
  4: REJECTED,
  5: { rule: 'transient' },
};

const LATER = 'Run the sync again later; what was answered is kept and not bought again.';

/** What to do after this attempt. A loop that does as it is told makes at most `policy.maxAttempts` attempts. */
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
            exit: EXIT.transient,
            because: `the service could not be reached: ${outcome.reason}`,
            next: 'Check service.url and the network, then run the sync again; nothing was spent.',
          };
    case 'unknown':
      if (outcome.tooLarge) {
        const next =
          'Ask for less at once, with a smaller count or fewer options; asking the same again would be billed again.';
        return { do: 'fail', class: 'too_large', scope: 'input', because: outcome.reason, next };
      }
      return afterLoss(outcome.reason, attempt, policy, random);
  }
}

function afterLoss(because: string, attempt: Attempt, policy: RetryPolicy, random: () => number): Decision {
  if (policy.inDoubt === 'reconcile' && mayRetry('transient', attempt, policy))
    return { do: 'doubt', because, againAfterMs: backoffMs(attempt.number, policy.waits, random) };
  return attempt.lostInvocations + 1 >= MAX_LOST_INVOCATIONS
    ? { do: 'fail', class: 'failing', scope: 'input', because, next: LOST_AGAIN_REASON }
    : { do: 'doubt', because, againAfterMs: undefined };
}

function afterAnswer(answer: AnsweredOutcome, attempt: Attempt, policy: RetryPolicy, random: () => number): Decision {
  const it = isRedirect(answer.status)
    ? REDIRECTED
    : (BY_STATUS[answer.status] ?? BY_FAMILY[Math.floor(answer.status / 100)] ?? REJECTED);
  // Before its body is looked at for a reason: reading one costs more than everything else here.
  if (it.rule === 'keep') return { do: 'keep' };
  const because = said(answer);
  switch (it.rule) {
    case 'missing':
      return { do: 'missing', because };
    case 'permanent':
      return { do: 'fail', class: it.class, scope: it.scope, because, next: it.next };
    case 'redirected':
      return redirected(answer, attempt);
    case 'token':
    case 'payment':
      return refused(answer, it.rule);
    case 'unpaid':
    case 'transient': {
      if (!mayRetry(it.rule, attempt, policy)) return notManaged(it.rule, attempt, policy, because);
      const asked = retryAfterMs(answer.headers['retry-after'], answer.receivedAt);
      const afterMs =
        asked === undefined
          ? backoffMs(attempt.number, policy.waits, random)
          : boundedRetryAfterMs(asked, policy.waits, random);
      return { do: 'retry', afterMs, paid: it.rule === 'transient', because };
    }
  }
}

function notManaged(
  kind: 'unpaid' | 'transient',
  { earlierAttempts, number }: Attempt,
  { retries }: RetryPolicy,
  because: string,
): Decision {
  const inVain = kind === 'transient' && earlierAttempts + number >= MAX_LOST_INVOCATIONS * (retries + 1);
  return inVain
    ? { do: 'fail', class: 'failing', scope: 'input', because, next: CHECK_INPUT }
    : { do: 'fail', class: 'unavailable', scope: 'input', because, next: LATER };
}

function mayRetry(kind: 'unpaid' | 'transient', attempt: Attempt, policy: RetryPolicy): boolean {
  if (attempt.number >= policy.maxAttempts) return false;
  return kind === 'unpaid' ? attempt.unpaidRetries < policy.unpaidRetries : attempt.paidRetries < policy.retries;
}

function said({ status, body, headers }: AnsweredOutcome): string {
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
        next: `The endpoint answered other inputs: correct or remove this one${to === '' ? '' : `, which the service points to ${to} for`}.`,
      }
    : { do: 'fail', class: 'redirected', scope: 'endpoint', because, next: check };
}

// "points" as a word or as a part of a code such as POINTS_LIMIT, but not of "endpoints".
const OF_POINTS = /(?<![a-z])(?:points|credits|balance|quota)/i;
const OF_TOKEN = /token|api.?key|expired|unauthori[sz]ed|credential/i;

/** A refusal for want of points pauses, one of the token stops: 401 is of the token and 402 of points unless it says otherwise. */
function refused(answer: AnsweredOutcome, usual: 'token' | 'payment'): Decision {
  const stated = statedCause(answer.body, answer.headers);
  const outOfPoints = OF_POINTS.test(stated) || (usual === 'payment' && !OF_TOKEN.test(stated));
  return outOfPoints
    ? {
        do: 'stop',
        exit: EXIT.budget,
        because: said(answer),
        next: 'Add points to the account, or wait until it has some again; what is left stays planned.',
      }
    : {
        do: 'stop',
        exit: EXIT.credential,
        because: said(answer),
        next: 'Put a valid API token of the account into the variable that service.token names.',
      };
}
