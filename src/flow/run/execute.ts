/**
 * Executes a run: sends open requests, stores each answer, loads answers in the order of storage, and plans follow-up
 * requests.
 */
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { EXIT } from '../../errors.ts';
import type { Client } from '../../extract/client.ts';
import type { AnsweredOutcome } from '../../extract/outcome.ts';
import { retryPolicy } from '../../extract/retry.ts';
import type { BudgetGuard } from '../../control/budget/local-budget.ts';
import { type LedgerRequest, moveRequests, openRequests, settleRequest, triedRequests } from '../../ledger/requests.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { maxPointsOf } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { sendRequest, type SentRequest } from '../request/request.ts';
import { openBreaker } from '../request/circuit-breaker.ts';
import { openGroupCommit } from '../request/group-commit.ts';
import { openStopController, type RunStop } from './stop-controller.ts';
import { splitPlanned, openSplitter } from './splitter.ts';
import type { ResolveLostAnswers } from '../../recovery/reconcile/lost-answers.ts';
import type { Limiter } from '../../control/limiter/slot.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import { oneAtATimePerEntity, mayHaveFreshAnswer } from '../../control/freshness/freshness.ts';
import { openLoader, pointsOf } from './loader.ts';
import { givenUpFailure, readLostByRequest } from './lost-by-request.ts';
import type { PointsMeter } from '../points/ticket.ts';
import { type Reservation, openReservations } from '../../control/budget/reservations.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { type StoreContext, openAnswerStore } from './store-answers.ts';
import { openTaskGroup } from '../../async/task-group.ts';

export interface ExecuteContext extends StoreContext {
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  readonly budget: BudgetGuard;
  readonly limiter: Limiter;
  /** Enforces limits in true points; absent without such a limit. */
  readonly meter?: PointsMeter;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
  readonly onLostAnswer: (because: string, again: boolean) => void;
  /** Resolves a lost answer before its request is sent again; absent, the request is sent again immediately. */
  readonly resolveLost?: ResolveLostAnswers;
  readonly onSent: (sentAt: Date) => () => void;
  /** Called after each request that ended, with its written rows and points. */
  readonly onEnded: (rows: number, points: number) => void;
}

/**
 * Requests that wait in memory: this many for each concurrent call, and at least `AHEAD`. The rest waits in the ledger.
 */
const AHEAD_EACH = 2;
const AHEAD = 200;
/** Answers that may wait for the loader before sending pauses. */
const BACKLOG = 1000;

/** Loads stored answers of the run, and fresh answers that serve it; sends nothing. */
export async function loadWaiting(context: ExecuteContext): Promise<void> {
  const splitter = await retryTransient(
    () => openSplitter(operationsOf(context.warehouse), context.definition),
    context,
  );
  await openLoader(context, { walks: new Map(), splitter }).loadWaiting();
}

/** Sends and loads until the run has nothing open or something stops it; returns what stopped it. */
export async function executeRun(context: ExecuteContext, signal: AbortSignal): Promise<RunStop | undefined> {
  const ops = operationsOf(context.warehouse);
  // Whatever fails, calls in flight are awaited and stored, and nothing new is sent.
  const controller = openStopController(signal);
  const either = controller.signal;
  const asking = openTaskGroup(controller.fail);
  const loads = openTaskGroup(controller.fail, asking.recheck);
  const isIdle = (): boolean => asking.size() === 0 && loads.size() === 0;
  const splitter = await retryTransient(() => openSplitter(ops, context.definition), context);
  const loader = openLoader(context, { walks: new Map(), splitter });
  const commits = openGroupCommit(context, controller);
  const store = openAnswerStore(context, loader, controller, commits);
  const handling = pLimit(context.inFlight);
  const breaker = openBreaker(context.sleep);
  const reservations = openReservations(context.budget);
  const lostBefore = await retryTransient(
    () => readLostByRequest(ops, context.definition, context.run.definitionHash),
    context,
  );
  const inTurn = oneAtATimePerEntity(context);
  let endpointRefused = false;
  let endpointAnswered = false;
  // True if requests may have been planned since the last look at the ledger.
  let hasNews = false;
  const isNewsOrIdle = (): boolean => hasNews || isIdle();
  const noteNews = (): void => {
    hasNews = true;
    asking.recheck();
  };

  // Stored answers are loaded before anything new is sent.
  await loader.loadWaiting();

  const settleLoad = async (loaded: Promise<IngestResult | undefined>, reservation: Reservation): Promise<void> => {
    try {
      const result = await loaded;
      if (result) reportLoaded(context, result, reservation);
    } finally {
      reservation.settle(reservation.points);
      if (context.definition.endpoint.paging.by !== 'once') noteNews();
    }
  };
  const storeAndLoad = async (
    request: SentRequest,
    answer: AnsweredOutcome,
    reservation: Reservation,
    left: () => void,
  ): Promise<string> => {
    const kept = await store(request, answer).catch((error: unknown) => {
      reservation.settle(reservation.points);
      throw error;
    });
    loads.track(settleLoad(kept.loaded, reservation).finally(left));
    return kept.answerId;
  };
  const handle = async (request: LedgerRequest, onAnswer: () => void): Promise<void> => {
    await loads.waitUntil(() => loader.backlog() <= BACKLOG || either.aborted);
    if (either.aborted) return;
    // The lookup runs after the loads, so that it sees what they loaded.
    if (mayHaveFreshAnswer(context, request) && (await loader.findServing(request)) !== undefined)
      return context.onEnded(0, 0);
    if (either.aborted) return;
    const lost = lostBefore.get(request.requestKey);
    const failure = givenUpFailure(lost);
    if (failure) {
      await retryTransient(
        () => settleRequest(ops, request.id, { state: 'failed', at: context.now(), ...failure }),
        context,
      );
      return context.onEnded(0, 0);
    }
    const decision = request.asksAgain ? ({ do: 'ask' } as const) : splitter.decide(request);
    if (decision.do === 'cut')
      return loader.exclusively(() => splitPlanned(context, request, decision.parts, splitter)).finally(noteNews);
    // The request releases its slot while it waits.
    if (decision.do === 'wait') return asking.track(decision.until.then(() => inSlot(request)));
    const left = splitter.start(request);
    const most = (): number => {
      const points = maxPointsOf(context.prices, countOf(request.request));
      return context.meter?.most(points) ?? points;
    };
    const end = await sendRequest(
      request,
      {
        ...context,
        ops,
        most,
        breaker,
        reservations,
        endpoint: context.definition.endpoint,
        policy: retryPolicy(context.retries, context.definition.inDoubt),
        lostInvocations: lost?.invocations ?? 0,
        endpointAnswered: () => endpointAnswered,
        findCost: async () => {
          const found = await context.resolveLost?.(new Map([[request.id, most()]]), either);
          return found?.toSorted((a, b) => b.attempt - a.attempt)[0]?.points ?? undefined;
        },
        commits,
        store: (sent, answer, reservation) => {
          endpointAnswered = true;
          const stored = storeAndLoad(sent, answer, reservation, left);
          onAnswer();
          return stored;
        },
        // Recording the refusal may have to wait for a large load; nothing may be sent meanwhile.
        onStop: controller.stopSending,
      },
      either,
    ).catch((error: unknown) => {
      left();
      throw error;
    });
    // A stored answer is learned from before its request counts as ended.
    if (end.as !== 'stored') left();
    if (end.as === 'stopped') controller.stopWith(end);
    if (end.as === 'failed' && end.wholeEndpoint) {
      endpointRefused = true;
      controller.stopWith({ exit: EXIT.rejects, because: end.because, next: end.next, forAll: false });
    }
    if (end.as !== 'stored' && end.as !== 'aborted') context.onEnded(0, 0);
  };
  /** Releases its slot as soon as the answer arrives, unless later requests should first learn from the answer. */
  const inSlot = async (request: LedgerRequest): Promise<void> => {
    const answered = Promise.withResolvers<void>();
    const mayInform = splitter.maySplit || mayHaveFreshAnswer(context, request);
    let handled: Promise<void> | undefined;
    await handling(() => {
      handled = handle(request, mayInform ? () => undefined : answered.resolve);
      return Promise.race([answered.promise, handled]);
    });
    await handled;
  };

  const sendAll = async (): Promise<void> => {
    const ahead = Math.max(AHEAD, AHEAD_EACH * context.inFlight);
    // Requests that the last invocation tried without success come last. Otherwise a few bad inputs would block the
    // good ones.
    const tried = context.run.continued ? await retryTransient(() => triedRequests(ops, context.run), context) : [];
    for (let last = '0'; !either.aborted; ) {
      hasNews = false;
      const after = last;
      const page = await retryTransient(() => openRequests(ops, context.run, after, ahead), context);
      last = page.at(-1)?.id ?? last;
      const requests = page.length > 0 ? page : tried.splice(0, ahead);
      for (const request of requests) asking.track(inTurn(request, () => inSlot(request)));
      if (requests.length > 0) await asking.waitUntil(() => asking.size() < ahead || either.aborted);
      else if (!isIdle()) await asking.waitUntil(isNewsOrIdle);
      else if (!hasNews && (await loader.loadWaiting()) === 0) return;
    }
  };
  const connected = connectAhead(context.warehouse);
  await sendAll().catch(controller.fail);
  await connected;
  await asking.waitUntil(isIdle);
  await reservations.close();
  const stop = controller.result();
  if (endpointRefused) await retryTransient(() => moveRequests(ops, context.run, ['planned'], 'skipped'), context);
  return stop;
}

/** Opens connections during the first calls, so that their answers need not wait for a connection. */
async function connectAhead({ kind, db }: Warehouse): Promise<void> {
  if (kind === 'postgres') await Promise.allSettled([1, 2, 3, 4].map(() => sql`select 1`.execute(db)));
}

function reportLoaded(context: ExecuteContext, result: IngestResult, reservation: Reservation): void {
  const { receipt } = result;
  const points = pointsOf(context, result);
  reservation.settle(points);
  context.onEnded(
    Object.values(receipt.written).reduce((sum, rows) => sum + rows, 0),
    points,
  );
}
