/** Carries out a run: asks what is open, stores each answer, loads in the order of storing, and plans what follows. */
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { EXIT } from '../../errors.ts';
import type { Client } from '../../extract/client.ts';
import type { Answered } from '../../extract/outcome.ts';
import { retryPolicy } from '../../extract/retry.ts';
import type { BudgetGuard } from '../../control/budget/local-budget.ts';
import { type LedgerRequest, moveAll, openRequests, settle, triedRequests } from '../../ledger/requests.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { mostOf } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { askUntilSettled, type SentRequest } from '../request/request.ts';
import { openBreaker } from '../request/circuit-breaker.ts';
import { openCommits } from '../request/group-commit.ts';
import { openCourse, type Stop } from './stop.ts';
import { cutPlanned, openCutting } from './splitter.ts';
import type { FindOut } from '../../recovery/reconcile/lost-answers.ts';
import type { Gate } from '../../control/limiter/slot.ts';
import type { Taken } from '../ingest/ingest.ts';
import { inTurns, maybeKnown } from '../../control/freshness/freshness.ts';
import { openLoader, pointsOf } from './loader.ts';
import { givenUp, readLostBefore } from './lost-before.ts';
import type { PointsMeter } from '../points/ticket.ts';
import { type Aside, openPurse } from '../../control/budget/reservations.ts';
import { steadily } from '../../warehouse/connect/retry-transient.ts';
import { type Keeping, openStore } from './store-answers.ts';
import { countUnderWay } from '../../async/task-group.ts';

export interface CarryOut extends Keeping {
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  readonly budget: BudgetGuard;
  readonly gate: Gate;
  /** Keeps limits in true points; absent without such a limit. */
  readonly meter?: PointsMeter;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
  readonly onDoubt: (because: string, again: boolean) => void;
  /** Finds out what became of a lost answer before it is asked for again; absent, it is asked again at once. */
  readonly findOut?: FindOut;
  readonly onSent: (sentAt: Date) => () => void;
  /** Told after each request that ended, with the rows that it wrote. */
  readonly onEnded: (rows: number, points: number) => void;
}

/** Requests that wait for their turn in memory, for each call in flight and at the least; the rest waits in the ledger. */
const AHEAD_EACH = 2;
const AHEAD = 200;
/** Answers that may wait for the loader before asking pauses. */
const BACKLOG = 1000;

/** Loads what waits for the run, and what is served by answers that are there; asks nothing. */
export async function loadWaiting(it: CarryOut): Promise<void> {
  const cutting = await steadily(() => openCutting(operationsOf(it.warehouse), it.definition), it);
  await openLoader(it, { walks: new Map(), cutting }).loadWaiting();
}

/** Asks and loads until nothing of the run is open or something stops it; returns what stopped it. */
export async function carryOut(it: CarryOut, signal: AbortSignal): Promise<Stop | undefined> {
  const ops = operationsOf(it.warehouse);
  // Whatever goes wrong, calls in flight are awaited and stored, and nothing new is sent.
  const course = openCourse(signal);
  const either = course.signal;
  const asking = countUnderWay(course.fail);
  const loads = countUnderWay(course.fail, asking.stir);
  const isIdle = (): boolean => asking.size() === 0 && loads.size() === 0;
  const cutting = await steadily(() => openCutting(ops, it.definition), it);
  const loader = openLoader(it, { walks: new Map(), cutting });
  const commits = openCommits(it, course);
  const store = openStore(it, loader, course, commits);
  const handling = pLimit(it.inFlight);
  const breaker = openBreaker(it.sleep);
  const purse = openPurse(it.budget);
  const lostBefore = await steadily(() => readLostBefore(ops, it.definition, it.run.definitionHash), it);
  const inTurn = inTurns(it);
  let endpointRefused = false;
  let endpointAnswered = false;
  // True when more may be planned than was looked at.
  let hasNews = false;
  const isNewsOrIdle = (): boolean => hasNews || isIdle();
  const lookAgain = (): void => {
    hasNews = true;
    asking.stir();
  };

  // What is stored is loaded before anything new is sent.
  await loader.loadWaiting();

  const settleLoad = async (loaded: Promise<Taken | undefined>, aside: Aside): Promise<void> => {
    try {
      const taken = await loaded;
      if (taken) tellLoaded(it, taken, aside);
    } finally {
      aside.settle(aside.points);
      if (it.definition.endpoint.paging.by !== 'once') lookAgain();
    }
  };
  const storeAndLoad = async (
    request: SentRequest,
    answer: Answered,
    aside: Aside,
    left: () => void,
  ): Promise<string> => {
    const kept = await store(request, answer).catch((error: unknown) => {
      aside.settle(aside.points);
      throw error;
    });
    loads.track(settleLoad(kept.loaded, aside).finally(left));
    return kept.answerId;
  };
  const handle = async (request: LedgerRequest, onAnswer: () => void): Promise<void> => {
    await loads.until(() => loader.backlog() <= BACKLOG || either.aborted);
    if (either.aborted) return;
    // Behind the loads, so that what came in was learned from.
    if (maybeKnown(it, request) && (await loader.served(request)) !== undefined) return it.onEnded(0, 0);
    if (either.aborted) return;
    const lost = lostBefore.get(request.requestKey);
    const failure = givenUp(lost);
    if (failure) {
      await steadily(() => settle(ops, request.id, { state: 'failed', at: it.now(), ...failure }), it);
      return it.onEnded(0, 0);
    }
    const turn = request.asksAgain ? ({ do: 'ask' } as const) : cutting.turnOf(request);
    if (turn.do === 'cut') return loader.inTurn(() => cutPlanned(it, request, turn.into, cutting)).finally(lookAgain);
    // It gives its place to others meanwhile.
    if (turn.do === 'wait') return asking.track(turn.until.then(() => inPlace(request)));
    const left = cutting.enter(request);
    const most = (): number => {
      const points = mostOf(it.prices, countOf(request.request));
      return it.meter?.most(points) ?? points;
    };
    const end = await askUntilSettled(
      request,
      {
        ...it,
        ops,
        most,
        breaker,
        purse,
        endpoint: it.definition.endpoint,
        policy: retryPolicy(it.retries, it.definition.inDoubt),
        lostInvocations: lost?.invocations ?? 0,
        endpointAnswered: () => endpointAnswered,
        findOut: async () => {
          const found = await it.findOut?.(new Map([[request.id, most()]]), either);
          return found?.toSorted((a, b) => b.attempt - a.attempt)[0]?.points ?? undefined;
        },
        commits,
        store: (sent, answer, aside) => {
          endpointAnswered = true;
          const stored = storeAndLoad(sent, answer, aside, left);
          onAnswer();
          return stored;
        },
        // Recording the refusal may have to wait for a large load; meanwhile nothing may be sent.
        onRefused: course.halt,
      },
      either,
    ).catch((error: unknown) => {
      left();
      throw error;
    });
    // What was stored is learned from first.
    if (end.as !== 'stored') left();
    if (end.as === 'stopped') course.stopFor(end);
    if (end.as === 'failed' && end.wholeEndpoint) {
      endpointRefused = true;
      course.stopFor({ exit: EXIT.rejects, because: end.because, next: end.next, forAll: false });
    }
    if (end.as !== 'stored' && end.as !== 'aborted') it.onEnded(0, 0);
  };
  /** Gives its place to the next in the instant of its answer, unless that may be learned from first. */
  const inPlace = async (request: LedgerRequest): Promise<void> => {
    const answered = Promise.withResolvers<void>();
    const mayTell = cutting.mayCut || maybeKnown(it, request);
    let handled: Promise<void> | undefined;
    await handling(() => {
      handled = handle(request, mayTell ? () => undefined : answered.resolve);
      return Promise.race([answered.promise, handled]);
    });
    await handled;
  };

  const askAll = async (): Promise<void> => {
    const ahead = Math.max(AHEAD, AHEAD_EACH * it.inFlight);
    // What the last invocation did not manage comes last, or a few bad inputs would keep a run from the good ones.
    const tried = it.run.continued ? await steadily(() => triedRequests(ops, it.run), it) : [];
    for (let last = '0'; !either.aborted; ) {
      hasNews = false;
      const after = last;
      const page = await steadily(() => openRequests(ops, it.run, after, ahead), it);
      last = page.at(-1)?.id ?? last;
      const requests = page.length > 0 ? page : tried.splice(0, ahead);
      for (const request of requests) asking.track(inTurn(request, () => inPlace(request)));
      if (requests.length > 0) await asking.until(() => asking.size() < ahead || either.aborted);
      else if (!isIdle()) await asking.until(isNewsOrIdle);
      else if (!hasNews && (await loader.loadWaiting()) === 0) return;
    }
  };
  const connected = connectAhead(it.warehouse);
  await askAll().catch(course.fail);
  await connected;
  await asking.until(isIdle);
  await purse.close();
  const stop = course.end();
  if (endpointRefused) await steadily(() => moveAll(ops, it.run, ['planned'], 'skipped'), it);
  return stop;
}

/** Connects for commits, loads, turns and the heartbeat while the first calls are under way: their answers would wait. */
async function connectAhead({ kind, db }: Warehouse): Promise<void> {
  if (kind === 'postgres') await Promise.allSettled([1, 2, 3, 4].map(() => sql`select 1`.execute(db)));
}

function tellLoaded(it: CarryOut, taken: Taken, aside: Aside): void {
  const { receipt } = taken;
  const points = pointsOf(it, taken);
  aside.settle(points);
  it.onEnded(
    Object.values(receipt.written).reduce((sum, rows) => sum + rows, 0),
    points,
  );
}
