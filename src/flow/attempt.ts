/** The loop over attempts at one request: the ledger knows each before it is sent, and its answer before anything else does. */
import type { Client } from '../extract/client.ts';
import type { Answered, Outcome } from '../extract/outcome.ts';
import { type Attempt, type Decision, decide, type RetryPolicy } from '../extract/retry.ts';
import type { BudgetGuard } from '../ops/budget.ts';
import { type LedgerRequest, markSent, returnPoints, settle } from '../ops/ledger.ts';
import type { Ops } from '../ops/schema.ts';
import { EXIT } from '../errors.ts';
import type { Endpoint } from '../service/endpoint.ts';

/** How a request ended for this run. */
export type End =
  | { readonly as: 'stored'; readonly answerId: string }
  | { readonly as: 'failed'; readonly because: string; readonly next: string; readonly wholeEndpoint: boolean }
  | { readonly as: 'in_doubt'; readonly because: string }
  /** Nothing more is to be sent; the request stays planned. */
  | { readonly as: 'stopped'; readonly exit: number; readonly because: string; readonly next: string }
  | { readonly as: 'aborted' };

export interface Asking {
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly policy: RetryPolicy;
  readonly inDoubt: 'reconcile' | 'stop';
  readonly budget: BudgetGuard;
  /** The most points that this request can cost. */
  readonly points: number;
  /** Commits the answer's bytes and returns its id. */
  readonly store: (requestId: string, answer: Answered) => Promise<string>;
  readonly ops: Ops;
  /** Waits for this request's turn. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  /** Told of what may be paid twice. */
  readonly onDoubt: (because: string, again: boolean) => void;
  readonly onSent: (sentAt: Date) => () => void;
}

/**
 * Asks until the request is settled and returns how. A call that was sent is awaited whatever the signal says; the
 * signal ends the waits between calls.
 */
export async function askUntilSettled(request: LedgerRequest, it: Asking, signal: AbortSignal): Promise<End> {
  const requestId = it.newId();
  let attempt: Attempt = { number: 1, paidRetries: 0, surelyUnpaidRetries: 0 };
  for (;;) {
    try {
      await it.turn(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) return backToPlan(request, it, attempt, { as: 'aborted' });
    const reached = it.budget.reserve(it.points);
    if (reached) {
      return backToPlan(request, it, attempt, {
        as: 'stopped',
        exit: EXIT.budget,
        because: `${reached.what} is ${reached.points} points, ${reached.spent} are spent or set aside, and the next request can cost ${it.points}`,
        next: 'Raise the limit or wait until it allows more; the rest stays planned.',
      });
    }
    const outcome = await once(request, it, requestId);
    const decision = decide(outcome, attempt, it.policy, it.random);
    const end = await settled(request, it, outcome, decision);
    if (end) return end;
    const { afterMs, paid } = waitOf(decision);
    attempt = {
      number: attempt.number + 1,
      paidRetries: attempt.paidRetries + (paid ? 1 : 0),
      surelyUnpaidRetries: attempt.surelyUnpaidRetries + (paid ? 0 : 1),
    };
    try {
      await it.sleep(afterMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function once(request: LedgerRequest, it: Asking, requestId: string): Promise<Outcome> {
  const at = it.now();
  await markSent(it.ops, request.id, { requestId, at, points: it.points });
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

/** Records what the decision says; returns the end, or undefined when the request is asked again. */
async function settled(
  request: LedgerRequest,
  it: Asking,
  outcome: Outcome,
  decision: Decision,
): Promise<End | undefined> {
  const status = outcome.kind === 'answered' ? { status: outcome.status } : {};
  switch (decision.do) {
    case 'keep':
    case 'missing':
      if (outcome.kind !== 'answered') throw new Error(`a decision to keep what did not arrive: ${outcome.kind}`);
      return { as: 'stored', answerId: await it.store(request.id, outcome) };
    case 'retry':
      // What was surely not billed is not counted; what may be is.
      if (!decision.paid) await giveBack(request, it);
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
      it.budget.giveBack(it.points);
      await settle(it.ops, request.id, {
        state: 'planned',
        at: it.now(),
        ...status,
        error: decision.because,
        next: decision.next,
        pointsBack: it.points,
      });
      return { as: 'stopped', exit: decision.exit, because: decision.because, next: decision.next };
    case 'doubt': {
      const again = it.inDoubt === 'reconcile' && decision.againAfterMs !== undefined;
      it.onDoubt(decision.because, again);
      if (again) return undefined;
      await settle(it.ops, request.id, { state: 'in_doubt', at: it.now(), error: decision.because });
      return { as: 'in_doubt', because: decision.because };
    }
  }
}

async function giveBack(request: LedgerRequest, it: Asking): Promise<void> {
  it.budget.giveBack(it.points);
  await returnPoints(it.ops, request.id, it.points);
}

/** A request that was never sent is planned still, unless somebody settled it. */
async function backToPlan(request: LedgerRequest, it: Asking, attempt: Attempt, end: End): Promise<End> {
  if (attempt.number > 1) await settle(it.ops, request.id, { state: 'planned', at: it.now() });
  return end;
}
