/** The loop over attempts at one request. The ledger records each attempt before it is sent, and each answer first. */
import type { Client } from '../../extract/client.ts';
import type { AnsweredOutcome, Outcome } from '../../extract/outcome.ts';
import { type Attempt, type Decision, decide, MAX_LOST_INVOCATIONS, type RetryPolicy } from '../../extract/retry.ts';
import { recordLosses } from '../../ledger/lost-answers.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { EXIT } from '../../errors.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { admitRequest, type Admission } from './admission.ts';
import { type Breaker, isSuccess } from './circuit-breaker.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import type { GroupCommit } from './group-commit.ts';
import { type End as SendEnd, GIVEN_UP, limitReached } from './end.ts';
import { withoutForgottenNames } from '../erasure/refusal.ts';
import type { Limiter } from '../../control/limiter/slot.ts';
import { settleIdempotently } from './idempotent-commit.ts';
import { orAborted } from '../../async/or-aborted.ts';
import type { Reservation, Reservations } from '../../control/budget/reservations.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { FREE, type PointsMeter, type Ticket } from '../points/ticket.ts';

/** A request with the id that its attempts carry. */
export interface SentRequest extends LedgerRequest {
  readonly xRequestId: string;
}

export interface SendContext {
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly policy: RetryPolicy;
  /** Earlier invocations that ended without an answer. */
  readonly lostInvocations: number;
  /** Whether the service has answered another request of the run in this invocation. */
  readonly endpointAnswered: () => boolean;
  /** Returns the cost of the latest lost attempt; undefined if it cannot be known. */
  readonly findCost: () => Promise<number | undefined>;
  readonly reservations: Reservations;
  /** The most points that this request can cost at current prices. */
  readonly most: () => number;
  /** Admits calls as far as the log has confirmed the cost of others; absent without a limit in points. */
  readonly meter?: PointsMeter;
  /** Commits that the request is about to be sent, together with or after all answers passed to `store`. */
  readonly commits: Pick<GroupCommit, 'markSent'>;
  /** Commits the answer's bytes and returns its id. The load settles the cost later. */
  readonly store: (request: SentRequest, answer: AnsweredOutcome, aside: Reservation) => Promise<string>;
  readonly ops: Ops;
  readonly lease: Lease;
  readonly breaker: Breaker;
  /** Bounds the concurrent calls of the token, and their rate. */
  readonly limiter: Limiter;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  /** Called for a lost answer that may be paid twice. */
  readonly onLostAnswer: (because: string, again: boolean) => void;
  readonly onSent: (sentAt: Date) => () => void;
  readonly checkpoint?: OnCheckpoint;
  readonly spans?: Pick<RunSpans, 'attempt'>;
  /** Called when nothing more may be sent in this run, before that is recorded. */
  readonly onStop: () => void;
}

/** Sends attempts until the request is settled. The signal ends waits between calls; a sent call is awaited. */
export async function sendRequest(planned: LedgerRequest, context: SendContext, signal: AbortSignal): Promise<SendEnd> {
  const request: SentRequest = { ...planned, xRequestId: planned.xRequestId ?? context.newId() };
  let attempt: Omit<Attempt, 'endpointAnswered'> = {
    number: 1,
    earlierAttempts: request.attempts,
    paidRetries: 0,
    unpaidRetries: 0,
    lostInvocations: context.lostInvocations,
  };
  for (;;) {
    const made = await once(request, context, signal);
    if (!made) continue;
    if ('as' in made) return made;
    const endpointAnswered = context.endpointAnswered();
    const decided = decide(made.outcome, { ...attempt, endpointAnswered }, context.policy, context.random);
    if (endsTheRun(decided)) context.onStop();
    const decision = await withoutForgottenNames(decided, context.ops, context);
    // The slot is held until the outcome is recorded, so calls without an outcome never exceed the concurrency limit.
    const end = await recordDecision(request, context, made, decision).finally(made.slot.release);
    if (end) return end;
    const { afterMs, paid } = waitOf(decision);
    attempt = {
      ...attempt,
      number: attempt.number + 1,
      paidRetries: attempt.paidRetries + (paid ? 1 : 0),
      unpaidRetries: attempt.unpaidRetries + (paid ? 0 : 1),
    };
    try {
      await orAborted(context.sleep(afterMs, signal), signal);
      if (decision.do === 'doubt') made.reservation.settle((await context.findCost()) ?? made.reservation.points);
    } finally {
      // As long as the cost is unknown, it counts as the most.
      made.reservation.settle(made.reservation.points);
    }
  }
}

interface Sent extends Admission {
  readonly outcome: Outcome;
}

/** Makes one attempt, or returns why there was none; undefined if it should be tried again immediately. */
async function once(
  request: SentRequest,
  context: SendContext,
  signal: AbortSignal,
): Promise<Sent | SendEnd | undefined> {
  const leave = await orAborted(context.breaker(signal), signal);
  if (signal.aborted) return { as: 'aborted' };
  if (!leave) return GIVEN_UP;
  try {
    const ticket = await orAborted(context.meter?.enter(signal) ?? Promise.resolve(FREE), signal);
    if (!ticket) return { as: 'aborted' };
    if ('because' in ticket) return { as: 'stopped', exit: EXIT.budget, ...ticket, forAll: false };
    const entry = await orAborted(
      admitRequest(context.limiter, context.reservations, context.most, signal),
      signal,
    ).catch((error: unknown) => {
      ticket.leave();
      throw error;
    });
    if (!entry || !('slot' in entry)) {
      ticket.leave();
      if (!entry) return { as: 'aborted' };
      // The true cost of earlier calls may leave room in the limit.
      return (await orAborted(context.meter?.verify(signal) ?? Promise.resolve(false), signal)) === true
        ? undefined
        : limitReached(entry);
    }
    const outcome = await sendWith(ticket, request, context, entry, signal);
    if (!outcome || 'as' in outcome) return outcome;
    leave.report(isSuccess(outcome));
    const { slot, reservation } = entry;
    const { points } = reservation;
    return { outcome, slot, reservation: { points, settle: (cost) => reservation.settle(ticket.settle(cost)) } };
  } finally {
    leave.release();
  }
}

/** Sends the request with its reserved points, and releases them if nothing was sent. */
async function sendWith(
  ticket: Ticket,
  request: SentRequest,
  context: SendContext,
  { slot, reservation }: Admission,
  signal: AbortSignal,
): Promise<Outcome | SendEnd | undefined> {
  let outcome: Outcome | SendEnd | undefined;
  try {
    if (context.meter) await ticket.claim(request, reservation.points);
    outcome = signal.aborted ? { as: 'aborted' } : await sendIfOwned(request, context, { slot, reservation }, signal);
    if (outcome && !('as' in outcome)) ticket.answered(outcome);
    return outcome;
  } finally {
    if (!outcome || 'as' in outcome) {
      ticket.leave();
      reservation.settle(0);
      slot.release();
    }
  }
}

/**
 * Records the request as sent and sends it, if this process may. Undefined if its slot was lost, and it is planned
 * again.
 */
async function sendIfOwned(
  request: SentRequest,
  context: SendContext,
  { slot, reservation: { points } }: Admission,
  signal: AbortSignal,
): Promise<Outcome | SendEnd | undefined> {
  // Another run of this process may still have to store the answer of the slot's last call.
  await slot.pendingCommit(context.commits);
  if (signal.aborted) return { as: 'aborted' };
  context.checkpoint?.('before_sent');
  const [at, requestId] = [context.now(), request.xRequestId];
  const marked = await context.commits.markSent({ id: request.id, requestId, at, points });
  if (marked === 'elsewhere') await retryTransient(() => assertLease(context.ops, context.lease), context);
  if (marked !== 'ours') return { as: marked };
  context.checkpoint?.('after_sent');
  const unsend = (): Promise<void> =>
    settleIdempotently(context, request.id, { state: 'planned', at: context.now(), pointsBack: points });
  const hasBegun = await slot.begin(signal).catch(async (error: unknown) => {
    // If this fails too, the next run finds out that nothing was sent.
    await unsend().catch(() => undefined);
    throw error;
  });
  if (!hasBegun) {
    await unsend();
    return signal.aborted ? { as: 'aborted' } : undefined;
  }
  const done = context.onSent(at);
  const { timeout } = request.body;
  try {
    const ask = (): Promise<Outcome> =>
      context.client.send({
        method: context.endpoint.method,
        path: context.endpoint.path,
        body: request.body,
        requestId,
        ...(typeof timeout === 'number' && { timeoutSeconds: timeout }),
      });
    return await (context.spans ? context.spans.attempt({ ...request, endpoint: context.endpoint }, ask) : ask());
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

/** What a decision means for the points reserved for an attempt. */
interface Settlement {
  /** Points that the ledger gets back, because the attempt surely cost nothing. */
  readonly pointsBack: number;
  /** False when the cost shows later: with the answer's load, or in the request log. */
  readonly isKnown: boolean;
}

function settlementOf(decision: Decision, reserved: number): Settlement {
  switch (decision.do) {
    case 'stop':
      return { pointsBack: reserved, isKnown: true };
    case 'retry':
      return { pointsBack: decision.paid ? 0 : reserved, isKnown: true };
    case 'fail':
      return { pointsBack: 0, isKnown: true };
    case 'keep':
    case 'missing':
      return { pointsBack: 0, isKnown: false };
    case 'doubt':
      return { pointsBack: 0, isKnown: decision.againAfterMs === undefined };
  }
}

/** Records the decision in the ledger; returns the end, or undefined when the request is sent again. */
async function recordDecision(
  request: SentRequest,
  context: SendContext,
  sent: Sent,
  decision: Decision,
): Promise<SendEnd | undefined> {
  const { outcome, reservation } = sent;
  const { pointsBack, isKnown } = settlementOf(decision, reservation.points);
  if (isKnown) reservation.settle(reservation.points - pointsBack);
  const status = outcome.kind === 'answered' ? { status: outcome.status } : {};
  switch (decision.do) {
    case 'keep':
    case 'missing':
      return storeAnswer(request, context, sent);
    case 'retry':
      // An answered attempt is only planned until it is sent again.
      await settleIdempotently(context, request.id, {
        state: 'planned',
        at: context.now(),
        ...status,
        error: decision.because,
        pointsBack,
      });
      return undefined;
    case 'stop': {
      const { exit, because, next } = decision;
      const settled = { ...status, error: because, next, pointsBack };
      await settleIdempotently(context, request.id, { state: 'planned', at: context.now(), ...settled });
      return { as: 'stopped', exit, because, next, forAll: exit !== EXIT.transient };
    }
    case 'fail':
      return recordFailure(request, context, outcome, decision);
    case 'doubt':
      return recordLostAnswer(request, context, decision);
  }
}

async function storeAnswer(
  request: SentRequest,
  context: SendContext,
  { outcome, reservation, slot }: Sent,
): Promise<SendEnd> {
  if (outcome.kind !== 'answered') throw new Error(`a decision to keep what did not arrive: ${outcome.kind}`);
  const stored = context.store(request, outcome, reservation);
  // The next call is marked as sent in the commit that stores this answer, or in a later one.
  slot.release({ recorded: stored, committer: context.commits });
  return { as: 'stored', answerId: await stored };
}

async function recordFailure(
  request: SentRequest,
  context: SendContext,
  outcome: Outcome,
  { because, next, class: failureClass, scope }: Extract<Decision, { do: 'fail' }>,
): Promise<SendEnd> {
  if (outcome.kind === 'unknown') {
    const invocations = outcome.tooLarge ? MAX_LOST_INVOCATIONS : 1;
    const loss = { at: context.now(), reason: because, invocations };
    await retryTransient(() => recordLosses(context.ops, { requestId: request.id }, loss), context);
  }
  const status = outcome.kind === 'answered' ? { status: outcome.status } : {};
  // An unavailable service says nothing about the input: the next run requests it again.
  const state = failureClass === 'unavailable' ? 'planned' : 'failed';
  await settleIdempotently(context, request.id, {
    state,
    at: context.now(),
    ...status,
    failureClass,
    error: because,
    next,
  });
  return { as: 'failed', because, next, wholeEndpoint: scope === 'endpoint' };
}

async function recordLostAnswer(
  request: SentRequest,
  context: SendContext,
  { because, againAfterMs }: Extract<Decision, { do: 'doubt' }>,
): Promise<SendEnd | undefined> {
  const again = againAfterMs !== undefined;
  context.onLostAnswer(because, again);
  const loss = { at: context.now(), reason: because, invocations: again ? 0 : 1 };
  await retryTransient(() => recordLosses(context.ops, { requestId: request.id }, loss), context);
  await settleIdempotently(context, request.id, { state: 'in_doubt', at: context.now(), error: because });
  return again ? undefined : { as: 'in_doubt', because };
}
