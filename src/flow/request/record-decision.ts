/** Records the decision about an attempt: in the ledger, in the reserved points, and in the slot. */
import type { SentRequest, SendContext, Sent } from './send-context.ts';
import type { Outcome } from '../../extract/outcome.ts';
import { type Decision, MAX_LOST_INVOCATIONS } from '../../extract/retry.ts';
import { recordLosses } from '../../ledger/failures/lost-answers.ts';
import type { End as SendEnd } from './end.ts';
import { settleIdempotently } from './idempotent-commit.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

interface PointsSettlement {
  /** Points that the ledger gets back, because the attempt surely cost nothing. */
  readonly pointsBack: number;
  /** False when the cost shows later: with the answer's load, or in the request log. */
  readonly isKnown: boolean;
}

/** The effect of a decision on the reserved points. */
export function pointsSettlement(decision: Decision, reserved: number): PointsSettlement {
  switch (decision.do) {
    case 'stop':
      return { pointsBack: reserved, isKnown: true };
    case 'retry':
      return { pointsBack: decision.paid ? 0 : reserved, isKnown: true };
    case 'fail':
      return { pointsBack: decision.unpaid ? reserved : 0, isKnown: true };
    case 'keep':
    case 'missing':
      return { pointsBack: 0, isKnown: false };
    case 'lost':
      return { pointsBack: 0, isKnown: decision.againAfterMs === undefined };
  }
}

/** Records the decision in the ledger; returns the end, or undefined when the request is sent again. */
export async function recordDecision(
  request: SentRequest,
  context: SendContext,
  sent: Sent,
  decision: Decision,
): Promise<SendEnd | undefined> {
  const { outcome, reservation } = sent;
  const { pointsBack, isKnown } = pointsSettlement(decision, reservation.points);
  if (isKnown) reservation.settle(reservation.points - pointsBack);
  const status = answeredStatus(outcome);
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
      const { reason, because, next } = decision;
      const settled = { ...status, error: because, next, pointsBack };
      await settleIdempotently(context, request.id, { state: 'planned', at: context.now(), ...settled });
      return { as: 'stopped', reason, because, next, forAll: reason !== 'unavailable' };
    }
    case 'fail':
      return recordFailure(request, context, outcome, { ...decision, pointsBack });
    case 'lost':
      return recordLostAnswer(request, context, decision);
  }
}

const answeredStatus = (outcome: Outcome) =>
  outcome.kind === 'answered' ? { status: outcome.status, answeredId: outcome.headers['x-request-id'] } : {};

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
  {
    because,
    next,
    class: failureClass,
    scope,
    pointsBack,
  }: Extract<Decision, { do: 'fail' }> & Pick<PointsSettlement, 'pointsBack'>,
): Promise<SendEnd> {
  if (outcome.kind === 'unknown') {
    const invocations = outcome.tooLarge ? MAX_LOST_INVOCATIONS : 1;
    await recordLoss(request, context, because, invocations);
  }
  const status = answeredStatus(outcome);
  // An unavailable service says nothing about the input: the next run requests it again.
  const state = failureClass === 'unavailable' ? 'planned' : 'failed';
  await settleIdempotently(context, request.id, {
    state,
    at: context.now(),
    ...status,
    failureClass,
    error: because,
    next,
    pointsBack,
  });
  return { as: 'failed', because, next, wholeEndpoint: scope === 'endpoint' };
}

async function recordLoss(
  { id: requestId }: SentRequest,
  context: SendContext,
  reason: string,
  invocations: number,
): Promise<void> {
  const { ops, lease } = context;
  const loss = { at: context.now(), reason, invocations };
  await retryTransient(() => recordLosses(ops, { requestId, lease }, loss), context);
}

async function recordLostAnswer(
  request: SentRequest,
  context: SendContext,
  { because, againAfterMs }: Extract<Decision, { do: 'lost' }>,
): Promise<SendEnd | undefined> {
  const again = againAfterMs !== undefined;
  context.onLostAnswer(because, again);
  await recordLoss(request, context, because, again ? 0 : 1);
  await settleIdempotently(context, request.id, { state: 'in_doubt', at: context.now(), error: because });
  return again ? undefined : { as: 'in_doubt', because };
}
