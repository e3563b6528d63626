/**
 * The loop over attempts at one request. The ledger records each attempt before it is sent, and stores each answer before
 * anything else is done with it.
 */
import { recordDecision } from './record-decision.ts';
import type { SentRequest, SendContext, Sent } from './send-context.ts';
import type { Outcome } from '../../extract/outcome.ts';
import { type Attempt, type Decision, decide } from '../../extract/retry.ts';
import { assertLease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import { EXIT } from '../../errors.ts';
import { admitRequest, type Admission } from './admission.ts';
import { isSuccess } from './circuit-breaker.ts';
import { type End as SendEnd, GIVEN_UP, limitReached } from './end.ts';
import { withoutForgottenNames } from '../erasure/refusal.ts';
import { settleIdempotently } from './idempotent-commit.ts';
import { orAborted } from '../../async/or-aborted.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { FREE, type Ticket } from '../points/ticket.ts';

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
    // Calls without a recorded outcome never exceed the concurrency limit. A slot with a stored answer passes on earlier:
    // its next holder waits for that commit.
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

/** Makes one attempt, or returns why there was none; undefined if it should be tried again immediately. */
async function once(
  request: SentRequest,
  context: SendContext,
  signal: AbortSignal,
): Promise<Sent | SendEnd | undefined> {
  const permit = await orAborted(context.breaker(signal), signal);
  if (signal.aborted) return { as: 'aborted' };
  if (!permit) return GIVEN_UP;
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
    permit.report(isSuccess(outcome));
    const { slot, reservation } = entry;
    const { points } = reservation;
    return { outcome, slot, reservation: { points, settle: (cost) => reservation.settle(ticket.settle(cost)) } };
  } finally {
    permit.release();
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
