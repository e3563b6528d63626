/**
 * Executes a run: sends open requests, stores each answer, loads answers in the order of storage, and plans follow-up
 * requests.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import type { AnsweredOutcome } from '../../extract/outcome.ts';
import { retryPolicy } from '../../extract/retry.ts';
import { type LedgerRequest, openRequests, triedRequests } from '../../ledger/requests/planned.ts';
import { settleRequest, skipPlanned } from '../../ledger/requests/states.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { End } from '../request/end.ts';
import { sendRequest } from '../request/request.ts';
import type { SendContext, SentRequest } from '../request/send-context.ts';
import { openBreaker } from '../request/circuit-breaker.ts';
import { openGroupCommit } from '../request/group-commit.ts';
import { connectAhead } from '../../warehouse/connect/connect-ahead.ts';
import { openStopController, type RunStop, type StopController } from './stop-controller.ts';
import { openSplitter, type Splitter, splitPlanned } from '../split/splitter.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import { freshWithin, oneAtATimePerEntity, mayBeBoughtUnderOtherName } from '../../control/freshness/freshness.ts';
import { type Loader, openLoader, reportLoaded } from './loader.ts';
import { givenUpFailure, type LostByRequest, readLostByRequest } from '../prepare/lost-by-request.ts';
import { openReservations, type Reservation, type Reservations } from '../../control/budget/reservations.ts';
import { orAborted } from '../../async/or-aborted.ts';
import { retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { requestContext } from './request-context.ts';
import type { RunContext } from './run-context.ts';
import { type AnswerStore, openAnswerStore } from './store-answers.ts';
import { openTaskGroup, type TaskGroup } from '../../async/task-group.ts';

/** Requests that wait in memory for each concurrent call, and at least `AHEAD`. The rest waits in the ledger. */
const AHEAD_EACH = 2;
const AHEAD = 200;
/** Wait before the next look at requests that other runs are buying. */
export const POSTPONED_MS = 500;
/** Answers that may wait for the loader before sending pauses. */
const BACKLOG = 1000;

/** Loads stored answers of the run, and fresh answers that serve it; sends nothing. */
export async function loadWaiting(context: RunContext): Promise<void> {
  const splitter = await retryTransient(
    () => openSplitter(operationsOf(context.warehouse), context.definition),
    context,
  );
  await openLoader(context, { walks: new Map(), splitter }).loadWaiting();
}

/** Sends and loads until the run has nothing open or something stops it; returns what stopped it. */
export async function executeRun(context: RunContext, signal: AbortSignal): Promise<RunStop | undefined> {
  const ops = operationsOf(context.warehouse);
  const { definition, run } = context;
  const splitter = await retryTransient(() => openSplitter(ops, definition), context);
  const lostBefore = await retryTransient(() => readLostByRequest(ops, definition, run.definitionHash), context);
  return new RunExecution(context, splitter, lostBefore, signal).execute();
}

/** One execution of a run. Whatever fails, calls in flight are awaited and stored, and nothing new is sent. */
class RunExecution {
  readonly #context: RunContext;
  readonly #ops: Ops;
  readonly #splitter: Splitter;
  readonly #lostBefore: LostByRequest;
  readonly #controller: StopController;
  /** Requests being handled. */
  readonly #requests: TaskGroup;
  readonly #loads: TaskGroup;
  readonly #loader: Loader;
  readonly #store: AnswerStore;
  readonly #reservations: Reservations;
  readonly #concurrency: LimitFunction;
  readonly #onePerEntity: ReturnType<typeof oneAtATimePerEntity>;
  /** The part of a `SendContext` that all requests share. */
  readonly #sending;
  #isEndpointRefused = false;
  #hasEndpointAnswered = false;
  #connected: Promise<void> | undefined;
  /** More may be planned than the last look at the ledger found. */
  #hasNews = false;
  /** A request waits for the same call of another sync. */
  #isPostponed = false;

  constructor(context: RunContext, splitter: Splitter, lostBefore: LostByRequest, signal: AbortSignal) {
    this.#context = context;
    this.#ops = operationsOf(context.warehouse);
    this.#splitter = splitter;
    this.#lostBefore = lostBefore;
    this.#controller = openStopController(signal);
    this.#requests = openTaskGroup(this.#controller.fail);
    this.#loads = openTaskGroup(this.#controller.fail, this.#requests.recheck);
    this.#loader = openLoader(context, { walks: new Map(), splitter, stopWith: this.#controller.stopWith });
    const commits = openGroupCommit(context, this.#controller);
    this.#store = openAnswerStore(context, this.#loader, this.#controller, commits);
    this.#reservations = openReservations(context.budget);
    this.#concurrency = pLimit(context.inFlight);
    this.#onePerEntity = oneAtATimePerEntity(context);
    this.#sending = {
      ...context,
      ops: this.#ops,
      breaker: openBreaker(context.sleep),
      reservations: this.#reservations,
      endpoint: context.definition.endpoint,
      policy: retryPolicy(context.retries, context.definition.inDoubt),
      endpointAnswered: () => this.#hasEndpointAnswered,
      commits,
      // Recording a refusal may wait for a large load; nothing may be sent until then.
      onStop: this.#controller.stopSending,
    };
  }

  async execute(): Promise<RunStop | undefined> {
    // Stored answers are loaded before anything new is sent.
    await this.#loader.loadWaiting();
    await this.#handleAll().catch(this.#controller.fail);
    await this.#connected;
    await this.#requests.waitUntil(this.#isIdle);
    if (!this.#controller.hasFailed()) await this.#loadRest();
    await this.#reservations.close();
    const stop = this.#controller.result();
    const { lease, run } = this.#context;
    if (this.#isEndpointRefused) await retryTransaction(this.#ops, (tx) => skipPlanned(tx, lease, run), this.#context);
    return stop;
  }

  /** A part that a stored answer serves is not complete before the parts of that answer are planned, also if the run stops. */
  async #loadRest(): Promise<void> {
    let loaded: number;
    do loaded = await this.#loader.loadWaiting();
    while (loaded > 0);
  }

  /** Handles the open requests of the run, as many at a time as may wait in memory. */
  async #handleAll(): Promise<void> {
    const most = Math.max(AHEAD, AHEAD_EACH * this.#context.inFlight);
    for await (const requests of this.#openPages(most)) {
      for (const request of requests)
        this.#requests.track(this.#onePerEntity(request, () => this.#handleWhenFree(request)));
      await this.#requests.waitUntil(() => this.#requests.size() < most || this.#isStopping());
    }
  }

  /** The open requests of the run, page by page, until the ledger has no more and none can follow. */
  async *#openPages(most: number): AsyncGenerator<readonly LedgerRequest[]> {
    const { run, warehouse } = this.#context;
    // Requests that the last invocation tried come last: a few bad inputs must not keep a run from the good ones.
    const tried = run.continued ? await retryTransient(() => triedRequests(this.#ops, run), this.#context) : [];
    for (let last = '0'; !this.#isStopping(); ) {
      this.#hasNews = false;
      const after = last;
      const page = await retryTransient(() => openRequests(this.#ops, run, after, most), this.#context);
      last = page.at(-1)?.id ?? last;
      this.#connected ??= connectAhead(warehouse, page.length);
      const requests = page.length > 0 ? page : tried.splice(0, most);
      if (requests.length > 0) yield requests;
      else if (!this.#isIdle()) await this.#requests.waitUntil(() => this.#hasNews || this.#isIdle());
      else if (!this.#hasNews && (await this.#loader.loadWaiting()) === 0) {
        if (!this.#isPostponed) return;
        this.#isPostponed = false;
        last = '0';
        await orAborted(this.#context.sleep(POSTPONED_MS, this.#controller.signal), this.#controller.signal);
      }
    }
  }

  /**
   * Handles a request among as many as may be in flight. The next one may start as soon as the answer arrives, unless the
   * loaded answer may decide how the next one is handled.
   */
  async #handleWhenFree(request: LedgerRequest): Promise<void> {
    const answered = Promise.withResolvers<void>();
    const decidesNext = this.#splitter.maySplit || mayBeBoughtUnderOtherName(this.#context, request);
    let handled: Promise<void> | undefined;
    await this.#concurrency(() => {
      handled = this.#handle(request, decidesNext ? () => undefined : answered.resolve);
      return Promise.race([answered.promise, handled]);
    });
    await handled;
  }

  /** Serves the request from a stored answer, gives it up, splits it or sends it. */
  async #handle(request: LedgerRequest, onAnswer: () => void): Promise<void> {
    await this.#loads.waitUntil(() => this.#loaderHasRoom() || this.#isStopping());
    if (this.#isStopping() || (await this.#endUnsent(request)) || this.#isStopping()) return;
    const decision = request.hasUnreadableAnswer ? ({ do: 'send' } as const) : this.#splitter.decide(request);
    switch (decision.do) {
      case 'split': {
        const split = (): Promise<void> => splitPlanned(this.#context, request, decision.parts, this.#splitter);
        return this.#loader.exclusively(split).finally(this.#lookAgain);
      }
      case 'wait':
        // Another request may start while this one waits.
        return this.#requests.track(decision.until.then(() => this.#handleWhenFree(request)));
      case 'send':
        return this.#context.mayBegin?.(request) === false ? undefined : this.#send(request, onAnswer);
    }
  }

  /** Ends a request that a stored answer serves, or whose answers were lost too often; returns whether it did. */
  async #endUnsent(request: LedgerRequest): Promise<boolean> {
    const context = this.#context;
    if (mayBeBoughtUnderOtherName(context, request) && (await this.#loader.findServing(request)) !== undefined) {
      context.onEnded(0, 0);
      return true;
    }
    const failure = this.#isStopping() ? undefined : givenUpFailure(this.#lostBefore.get(request.requestKey));
    if (!failure) return false;
    await retryTransient(
      () => settleRequest(this.#ops, context.lease, request.id, { state: 'failed', at: context.now(), ...failure }),
      context,
    );
    context.onEnded(0, 0);
    return true;
  }

  async #send(request: LedgerRequest, onAnswer: () => void): Promise<void> {
    const { signal } = this.#controller;
    const leaveSplitter = this.#splitter.start(request);
    const sending: SendContext = {
      ...this.#sending,
      ...requestContext(this.#context, request, this.#lostBefore, signal),
      store: (sent, answer, reservation) => {
        this.#hasEndpointAnswered = true;
        const stored = this.#storeAndLoad(sent, answer, reservation, leaveSplitter);
        onAnswer();
        return stored;
      },
    };
    const end = await sendRequest(request, sending, signal).catch((error: unknown) => {
      leaveSplitter();
      throw error;
    });
    if (end.as !== 'stored') leaveSplitter();
    await this.#follow(request, end);
  }

  /** Reports the end of a request, looks for the answer of another sync, or stops the run. */
  async #follow(request: LedgerRequest, end: End): Promise<void> {
    switch (end.as) {
      // The load reports a stored answer.
      case 'stored':
      case 'aborted':
        return;
      case 'stopped':
        return this.#controller.stopWith(end);
      case 'failed':
        if (end.wholeEndpoint) this.#stopForEndpoint(end);
        return this.#context.onEnded(0, 0);
      case 'in_doubt':
        return this.#context.onEnded(0, 0);
      case 'elsewhere':
        if (!freshWithin(this.#context, request) || (await this.#findElsewhere(request))) this.#context.onEnded(0, 0);
    }
  }

  #stopForEndpoint({ because, next }: { readonly because: string; readonly next: string }): void {
    this.#isEndpointRefused = true;
    this.#controller.stopWith({ reason: 'endpoint-refused', because, next, forAll: false });
  }

  /** Serves the request from the answer that another sync bought; false if that is still buying it, so it is tried again. */
  async #findElsewhere(request: LedgerRequest): Promise<boolean> {
    const isServed = (await this.#loader.findServing(request)) !== undefined;
    this.#isPostponed ||= !isServed;
    this.#lookAgain();
    return isServed;
  }

  /** Stores the answer and returns its id; loads it in the background, so that the splitter learns from it before it leaves. */
  async #storeAndLoad(
    request: SentRequest,
    answer: AnsweredOutcome,
    reservation: Reservation,
    leaveSplitter: () => void,
  ): Promise<string> {
    const stored = await this.#store.store(request, answer).catch((error: unknown) => {
      reservation.settle(reservation.points);
      throw error;
    });
    this.#loads.track(this.#settleLoad(stored.loaded, reservation).finally(leaveSplitter));
    return stored.answerId;
  }

  async #settleLoad(loaded: Promise<IngestResult | undefined>, reservation: Reservation): Promise<void> {
    try {
      const result = await loaded;
      if (result) reportLoaded(this.#context, result, reservation);
    } finally {
      reservation.settle(reservation.points);
      if (this.#context.definition.endpoint.paging.by !== 'once') this.#lookAgain();
    }
  }

  readonly #loaderHasRoom = (): boolean => this.#loader.backlog() <= BACKLOG && this.#store.hasRoom();
  readonly #isStopping = (): boolean => this.#controller.signal.aborted;
  readonly #isIdle = (): boolean => this.#requests.size() === 0 && this.#loads.size() === 0;
  readonly #lookAgain = (): void => {
    this.#hasNews = true;
    this.#requests.recheck();
  };
}
