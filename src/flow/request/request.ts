/**
 * The loop over attempts at one request. The ledger records each attempt before it is sent, and stores each answer before
 * anything else is done with it.
 */
import { recordDecision } from './record-decision.ts';
import type { SentRequest, SendContext, Sent } from './send-context.ts';
import type { Outcome } from '../../extract/outcome.ts';
import { type Attempt, type Decision, decide } from '../../extract/retry.ts';
import { assertLease, HEARTBEAT_MS, renewLease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import { admitRequest, type Admission } from './admission.ts';
import { isSuccess } from './circuit-breaker.ts';
import { type End as SendEnd, GIVEN_UP, limitReached } from './end.ts';
import { withoutForgottenNames } from '../erasure/late-answer.ts';
import { settleIdempotently } from './idempotent-commit.ts';
import { orAborted } from '../../async/or-aborted.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { UNMETERED, type Ticket } from '../points/ticket.ts';

/**
 * The result of trying to make an attempt: it was sent, the request ends without it, or nothing was sent and the caller tries
 * again immediately.
 */
type AttemptResult =
  | ({ readonly kind: 'sent' } & Sent)
  | { readonly kind: 'ended'; readonly end: SendEnd }
  | { readonly kind: 'again' };

/** The result of an admitted call. */
type CallResult = { readonly kind: 'sent'; readonly outcome: Outcome } | Exclude<AttemptResult, { kind: 'sent' }>;

const endedBy = (end: SendEnd) => ({ kind: 'ended', end }) as const;
const ABORTED = endedBy({ as: 'aborted' });
const AGAIN = { kind: 'again' } as const;

/** Sends attempts until the request is settled. The signal ends waits between calls; a sent call is awaited. */
export async function sendRequest(planned: LedgerRequest, context: SendContext, signal: AbortSignal): Promise<SendEnd> {
  const request: SentRequest = { ...planned, xRequestId: planned.xRequestId ?? context.newId() };
  let attempt: Omit<Attempt, 'endpointAnswered'> = {
    number: 1,
    earlierAttempts: request.billableFailures,
    paidRetries: 0,
    unpaidRetries: 0,
    lostInvocations: context.lostInvocations,
  };
  for (;;) {
    const result = await makeAttempt(request, context, signal);
    if (result.kind === 'again') continue;
    if (result.kind === 'ended') return result.end;
    const { outcome, reservation, slot } = result;
    const endpointAnswered = context.endpointAnswered();
    const decided = decide(outcome, { ...attempt, endpointAnswered }, context.policy, context.random);
    if (endsTheRun(decided)) context.onStop();
    // Calls without a recorded outcome never exceed the concurrency limit. A slot with a stored answer passes on earlier:
    // its next holder waits for that commit.
    const end = await withoutForgottenNames(decided, context.ops, context)
      .then((decision) => recordDecision(request, context, result, decision))
      .finally(slot.release);
    if (end) return end;
    const { afterMs, paid } = waitOf(decided);
    attempt = {
      ...attempt,
      number: attempt.number + 1,
      paidRetries: attempt.paidRetries + (paid ? 1 : 0),
      unpaidRetries: attempt.unpaidRetries + (paid ? 0 : 1),
    };
    const resume = context.onWait(afterMs, outcome.kind === 'answered' ? outcome.status : undefined);
    try {
      await orAborted(context.sleep(afterMs, signal), signal).finally(resume);
      if (decided.do === 'lost') reservation.settle((await context.findCost()) ?? reservation.points);
    } finally {
      // An unknown cost counts as the greatest possible one.
      reservation.settle(reservation.points);
    }
  }
}

/** Waits until the breaker and the meter permit a call, and makes it. */
async function makeAttempt(request: SentRequest, context: SendContext, signal: AbortSignal): Promise<AttemptResult> {
  const permit = await orAborted(context.breaker(signal), signal);
  if (signal.aborted) return ABORTED;
  if (!permit) return endedBy(GIVEN_UP);
  try {
    const ticket = await orAborted(context.meter?.enter(signal) ?? Promise.resolve(UNMETERED), signal);
    if (!ticket) return ABORTED;
    if ('because' in ticket) return endedBy({ as: 'stopped', ...ticket });
    const result = await callWith(ticket, request, context, signal);
    if (result.kind === 'sent') permit.report(isSuccess(result.outcome));
    return result;
  } finally {
    permit.release();
  }
}

/** Makes the call with a slot and reserved points; gives the ticket, the slot and the points back if nothing was sent. */
async function callWith(
  ticket: Ticket,
  request: SentRequest,
  context: SendContext,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { limiter, reservations, most, meter } = context;
  let sent: Outcome | undefined;
  let admission: Admission | undefined;
  try {
    const admitted = await orAborted(admitRequest(limiter, reservations, most, signal), signal);
    if (!admitted) return ABORTED;
    if (!('slot' in admitted)) {
      ticket.cancel();
      // The true cost of earlier calls may leave room in the limit.
      const hasChanged = await orAborted(meter?.verify(signal) ?? Promise.resolve(false), signal);
      return hasChanged === true ? AGAIN : endedBy(limitReached(admitted));
    }
    admission = admitted;
    const { slot, reservation } = admission;
    if (meter) await ticket.claim(request, reservation);
    const result = signal.aborted ? ABORTED : await sendIfOwned(request, context, admission, signal);
    if (result.kind !== 'sent') return result;
    sent = result.outcome;
    ticket.ended(sent);
    const metered = { ...reservation, settle: (cost: number) => reservation.settle(ticket.settle(cost)) };
    return { kind: 'sent', outcome: sent, slot, reservation: metered };
  } finally {
    if (!sent) {
      ticket.cancel();
      admission?.reservation.settle(0);
      admission?.slot.release();
    }
  }
}

/** Records the request as sent and sends it, if this process may. If the slot was lost, the request is planned again. */
async function sendIfOwned(
  request: SentRequest,
  context: SendContext,
  { slot, reservation: { points } }: Admission,
  signal: AbortSignal,
): Promise<CallResult> {
  // Another run of this process may still have to store the answer of the slot's last call.
  await slot.pendingCommit(context.commits);
  if (signal.aborted) return ABORTED;
  context.checkpoint?.('before_sent');
  const at = context.now();
  const { xRequestId } = request;
  const fresh = context.freshWithin();
  const recorded = await context.commits.recordSent({ id: request.id, xRequestId, at, points, fresh });
  if (recorded === 'elsewhere') await retryTransient(() => assertLease(context.ops, context.lease), context);
  if (recorded !== 'ours') return endedBy({ as: recorded });
  context.checkpoint?.('after_sent');
  const unsend = (): Promise<void> =>
    settleIdempotently(context, request.id, {
      state: 'planned',
      at: context.now(),
      pointsBack: points,
      wasNotMade: true,
    });
  const begin = async (): Promise<boolean> => (await slot.begin(signal)) && (await keepAfterPause(context, at));
  const hasBegun = await begin().catch(async (error: unknown) => {
    // If this fails too, the next run finds out that nothing was sent.
    await unsend().catch(() => undefined);
    throw error;
  });
  if (!hasBegun) {
    await unsend();
    return signal.aborted ? ABORTED : AGAIN;
  }
  const done = context.onSent(at);
  const { timeout } = request.body;
  try {
    const { method, path } = context.endpoint;
    const timeoutSeconds = typeof timeout === 'number' ? timeout : undefined;
    const call = (): Promise<Outcome> =>
      context.client.send({ method, path, body: request.body, xRequestId, timeoutSeconds });
    const traced = context.spans?.attempt({ ...request, endpoint: context.endpoint }, call);
    return { kind: 'sent', outcome: await (traced ?? call()) };
  } finally {
    done();
  }
}

/**
 * Renews the lease if it was not renewed for longer than a heartbeat, such as in a suspended process, and throws a
 * HeldError if it was lost. So the next holder does not look for a call in the request log before it is made.
 */
async function keepAfterPause(context: SendContext, sinceAt: Date): Promise<true> {
  const { ops, lease, now } = context;
  for (let since = sinceAt; Math.abs(now().getTime() - since.getTime()) > HEARTBEAT_MS; ) {
    since = now();
    if (!(await retryTransient(() => renewLease(ops, lease), context))) await assertLease(ops, lease);
  }
  return true;
}

const waitOf = (decision: Decision): { readonly afterMs: number; readonly paid: boolean } =>
  decision.do === 'retry'
    ? decision
    : { afterMs: decision.do === 'lost' ? (decision.againAfterMs ?? 0) : 0, paid: true };

const endsTheRun = (decision: Decision): boolean =>
  decision.do === 'stop' || (decision.do === 'fail' && decision.scope === 'endpoint');
