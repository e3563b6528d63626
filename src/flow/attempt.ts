/** The loop over attempts at one request: the ledger knows each before it is sent, and its answer before anything else does. */
import type { Client } from '../extract/client.ts';
import type { Answered, Outcome } from '../extract/outcome.ts';
import { type Attempt, type Decision, decide, type RetryPolicy } from '../extract/retry.ts';
import type { Limit } from '../ops/budget.ts';
import { assertLease, type Lease } from '../ops/lease.ts';
import { type LedgerRequest, markSent, settle } from '../ops/ledger.ts';
import type { Ops } from '../ops/schema.ts';
import { EXIT } from '../errors.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { type Breaker, wentWell } from './breaker.ts';
import type { Aside, Purse } from './purse.ts';

/** How a request ended for this run. */
export type End =
  | { readonly as: 'stored'; readonly answerId: string }
  | { readonly as: 'failed'; readonly because: string; readonly next: string; readonly wholeEndpoint: boolean }
  | { readonly as: 'in_doubt'; readonly because: string }
  /** Nothing more is to be sent; the request stays planned. */
  | {
      readonly as: 'stopped';
      readonly exit: number;
      readonly because: string;
      readonly next: string;
      /** Nor would the service answer any other sync. */
      readonly forAll: boolean;
    }
  | { readonly as: 'aborted' }
  /** Somebody else settled it in the meantime. */
  | { readonly as: 'elsewhere' };

export interface Asking {
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly policy: RetryPolicy;
  readonly inDoubt: 'reconcile' | 'stop';
  readonly purse: Purse;
  /** The most points that this request can cost. */
  readonly points: number;
  /** Commits the answer's bytes and returns its id; whoever loads it settles what it cost. */
  readonly store: (requestId: string, answer: Answered, aside: Aside) => Promise<string>;
  readonly ops: Ops;
  readonly lease: Lease;
  readonly breaker: Breaker;
  /** Waits for this request's turn. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  /** Told of what may be paid twice. */
  readonly onDoubt: (because: string, again: boolean) => void;
  readonly onSent: (sentAt: Date) => () => void;
  /** Told at once, before it is recorded, that nothing more is to be sent in this run. */
  readonly onRefused: () => void;
}

/**
 * Asks until the request is settled and returns how. A call that was sent is awaited whatever the signal says; the
 * signal ends the waits between calls.
 */
export async function askUntilSettled(request: LedgerRequest, it: Asking, signal: AbortSignal): Promise<End> {
  const requestId = request.xRequestId ?? it.newId();
  let attempt: Attempt = { number: 1, earlier: request.attempts, paidRetries: 0, surelyUnpaidRetries: 0 };
  for (;;) {
    const made = await once(request, it, requestId, signal);
    if ('as' in made) return made;
    const decision = decide(made.outcome, attempt, it.policy, it.random);
    if (endsTheRun(decision)) it.onRefused();
    const end = await settled(request, it, made, decision);
    if (end) return end;
    const { afterMs, paid } = waitOf(decision);
    attempt = {
      ...attempt,
      number: attempt.number + 1,
      paidRetries: attempt.paidRetries + (paid ? 1 : 0),
      surelyUnpaidRetries: attempt.surelyUnpaidRetries + (paid ? 0 : 1),
    };
    await orAborted(it.sleep(afterMs, signal), signal);
  }
}

interface Made {
  readonly outcome: Outcome;
  readonly aside: Aside;
}

/** One attempt, or why there was none. */
async function once(request: LedgerRequest, it: Asking, requestId: string, signal: AbortSignal): Promise<Made | End> {
  const leave = await orAborted(it.breaker(signal), signal);
  if (signal.aborted) return { as: 'aborted' };
  if (!leave) return GIVEN_UP;
  try {
    await orAborted(it.turn(signal), signal);
    if (signal.aborted) return { as: 'aborted' };
    const aside = await it.purse(it.points);
    if (!('settle' in aside)) return limitReached(aside, it.points);
    let outcome: Outcome | End = { as: 'aborted' };
    try {
      if (!signal.aborted) outcome = await sendOurs(request, it, requestId);
    } finally {
      if ('as' in outcome) aside.settle(0);
    }
    if ('as' in outcome) return outcome;
    leave.tell(wentWell(outcome));
    return { outcome, aside };
  } finally {
    leave.release();
  }
}

const limitReached = (limit: Limit, points: number): End => ({
  as: 'stopped',
  exit: EXIT.budget,
  because: `${limit.what} is ${limit.points} points, ${limit.spent} are spent or set aside, and the next request can cost ${points}`,
  next: 'Raise the limit or wait until it allows more; the rest stays planned.',
  forAll: false,
});

const GIVEN_UP: End = {
  as: 'stopped',
  exit: EXIT.transient,
  because: 'the service keeps failing, also after rests',
  next: 'Run the sync again later; it goes on where it stopped.',
  forAll: false,
};

/** What the work gives; undefined when the signal ended it. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

/** Sends the request, once the ledger says so, unless it is no longer ours to send. */
async function sendOurs(request: LedgerRequest, it: Asking, requestId: string): Promise<Outcome | End> {
  const at = it.now();
  if (!(await markSent(it.ops, it.lease, request.id, { requestId, at, points: it.points }))) {
    await assertLease(it.ops, it.lease);
    return { as: 'elsewhere' };
  }
  const done = it.onSent(at);
  const { timeout } = request.body;
  try {
    return await it.client.ask({
      method: it.endpoint.method,
      path: it.endpoint.path,
      body: request.body,
      requestId,
      ...(typeof timeout === 'number' && { timeoutSeconds: timeout }),
    });
  } finally {
    done();
  }
}

const waitOf = (decision: Decision): { readonly afterMs: number; readonly paid: boolean } =>
  decision.do === 'retry'
    ? decision
    : { afterMs: decision.do === 'doubt' ? (decision.againAfterMs ?? 0) : 0, paid: true };

const endsTheRun = (decision: Decision): boolean =>
  decision.do === 'stop' || (decision.do === 'fail' && decision.scope === 'endpoint');

/** Records what the decision says; returns the end, or undefined when the request is asked again. */
async function settled(
  request: LedgerRequest,
  it: Asking,
  { outcome, aside }: Made,
  decision: Decision,
): Promise<End | undefined> {
  const unpaid = decision.do === 'stop' || (decision.do === 'retry' && !decision.paid);
  const pointsBack = unpaid ? it.points : 0;
  // What was surely not billed is not counted; what may be is.
  if (decision.do !== 'keep' && decision.do !== 'missing') aside.settle(it.points - pointsBack);
  const status = outcome.kind === 'answered' ? { status: outcome.status } : {};
  switch (decision.do) {
    case 'keep':
    case 'missing':
      if (outcome.kind !== 'answered') throw new Error(`a decision to keep what did not arrive: ${outcome.kind}`);
      return { as: 'stored', answerId: await it.store(request.id, outcome, aside) };
    case 'retry':
      // Answered as it was, it is only planned until it is sent again.
      await settle(it.ops, request.id, {
        state: 'planned',
        at: it.now(),
        ...status,
        error: decision.because,
        pointsBack,
      });
      return undefined;
    case 'fail': {
      const failure = { failureClass: decision.class, error: decision.because, next: decision.next };
      // A service that did not manage says nothing of the input: the next run asks again.
      const state = decision.class === 'unavailable' ? 'planned' : 'failed';
      await settle(it.ops, request.id, { state, at: it.now(), ...status, ...failure });
      return {
        as: 'failed',
        because: decision.because,
        next: decision.next,
        wholeEndpoint: decision.scope === 'endpoint',
      };
    }
    case 'stop':
      await settle(it.ops, request.id, {
        state: 'planned',
        at: it.now(),
        ...status,
        error: decision.because,
        next: decision.next,
        pointsBack,
      });
      return {
        as: 'stopped',
        exit: decision.exit,
        because: decision.because,
        next: decision.next,
        forAll: decision.exit !== EXIT.transient,
      };
    case 'doubt': {
      const again = it.inDoubt === 'reconcile' && decision.againAfterMs !== undefined;
      it.onDoubt(decision.because, again);
      await settle(it.ops, request.id, { state: 'in_doubt', at: it.now(), error: decision.because });
      return again ? undefined : { as: 'in_doubt', because: decision.because };
    }
  }
}
