/** Carries out a run: asks what is open, stores each answer, loads in the order of storing, and plans what follows. */
import pLimit from 'p-limit';
import { EXIT, SluiceError } from '../errors.ts';
import type { Client } from '../extract/client.ts';
import type { Answered } from '../extract/outcome.ts';
import { retryPolicy } from '../extract/retry.ts';
import type { BudgetGuard } from '../ops/budget.ts';
import type { Lease } from '../ops/lease.ts';
import { type LedgerRequest, moveAll, openRequests, triedRequests } from '../ops/ledger.ts';
import { settlePoints } from '../ops/prices.ts';
import { operationsOf } from '../ops/schema.ts';
import { unloadedAnswers } from '../ops/vault.ts';
import { costOf, mostOf, type PriceBook } from '../plan/price-book.ts';
import { countOf } from '../service/endpoint.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { askUntilSettled, type SentRequest } from './attempt.ts';
import { openBreaker } from './breaker.ts';
import type { OnCheckpoint } from './checkpoint.ts';
import { cutPlanned, openCutting } from './cutting.ts';
import type { FindOut } from './doubt.ts';
import type { Gate } from './gate.ts';
import { answersToServe, type Following, type Known, planFollowing } from './follow.ts';
import { type AskedAs, type Taken, takeIn } from './intake.ts';
import { inTurns, maybeKnown, servedMeanwhile } from './known.ts';
import { storeSurely } from './mark.ts';
import { type Aside, openPurse } from './purse.ts';
import type { KeepAside } from './spooling.ts';
import { databaseTrouble } from './steady.ts';

/** Why nothing more is sent in this run. */
export interface Stop {
  readonly exit: number;
  readonly because: string;
  readonly next: string | null;
  /** Nothing is to be sent for any other sync either: the token is refused, the account empty, or no answer could be stored. */
  readonly forAll: boolean;
}

export interface CarryOut extends Following {
  readonly warehouse: Warehouse;
  readonly lease: Lease;
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  readonly budget: BudgetGuard;
  readonly prices: PriceBook;
  readonly gate: Gate;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onDoubt: (because: string, again: boolean) => void;
  /** Finds out what became of a lost answer before it is asked for again; absent, it is asked again at once. */
  readonly findOut?: FindOut;
  readonly checkpoint?: OnCheckpoint;
  readonly onSent: (sentAt: Date) => () => void;
  /** Keeps an answer that could not be stored; returns the error to end the run with. */
  readonly keepAside?: KeepAside;
  /** Told of each answer that was loaded. */
  readonly onLoaded: (taken: Taken) => void;
  /** Told after each request that ended, with the rows that it wrote. */
  readonly onEnded: (rows: number, points: number) => void;
}

/** Requests that wait for their turn in memory; the rest waits in the ledger. */
const AHEAD = 200;
/** Answers that may wait for the loader before asking pauses. */
const BACKLOG = 64;

/** Asks and loads until nothing of the run is open or something stops it; returns what stopped it. */
export async function carryOut(it: CarryOut, signal: AbortSignal): Promise<Stop | undefined> {
  const ops = operationsOf(it.warehouse);
  const halt = new AbortController();
  const either = AbortSignal.any([signal, halt.signal]);
  let stop: Stop | undefined;
  const stopFor = (reason: Stop): void => {
    stop ??= reason;
    halt.abort();
  };
  const cutting = await openCutting(ops, it.definition);
  const known: Known = { walks: new Map(), cutting };
  const storing = pLimit(1);
  const loading = pLimit(1);
  // Each may have an answer that is not stored yet, and with a crash that many are in doubt.
  const handling = pLimit(it.inFlight);
  const waiting = new Set<Promise<void>>();
  const breaker = openBreaker(it.sleep);
  const purse = openPurse(it.budget);
  const inTurn = inTurns(it);
  let endpointRefused = false;

  // What is stored is loaded before anything new is sent; tells how much that was.
  let served = '0';
  const loadWaiting = async (): Promise<number> => {
    const unloaded = await unloadedAnswers(ops, it.definition.name);
    for (const answerId of unloaded) await loadStored(it, answerId, known);
    const rows = await answersToServe(it, ops, served);
    for (const row of rows)
      await loadStored(it, row.answer_id, known, { requestKey: row.request_key, request: row.body });
    served = rows.at(-1)?.id ?? served;
    return unloaded.length + rows.length;
  };
  await loadWaiting();

  let fault: Error | undefined;
  let hasFailed = false;
  // Whatever goes wrong, calls in flight are awaited and stored, and nothing new is sent.
  const fail = (error: unknown): void => {
    hasFailed = true;
    const reason = asStop(error);
    if (!reason) fault ??= error instanceof Error ? error : new Error(String(error));
    stopFor(reason ?? { exit: EXIT.bug, because: 'a fault of this program', next: null, forAll: false });
  };
  const track = (work: Promise<void>): void => {
    const guarded = work.catch(fail).finally(() => waiting.delete(guarded));
    waiting.add(guarded);
  };
  // One at a time, so that answers queue for the loader in the order of their ids.
  const store = (request: SentRequest, answer: Answered, aside: Aside, points: number, left: () => void) =>
    storing(async () => {
      it.checkpoint?.('before_store');
      // Once one could not be stored, waiting was of no use.
      const answerId = await storeSurely({ ...it, ops }, request.id, answer, hasFailed ? 1 : undefined);
      it.checkpoint?.('after_store');
      const loaded = loading(async () => {
        // What is stored can wait for the next run.
        if (!hasFailed) tellLoaded(it, await loadStored(it, answerId, known), aside);
      });
      track(loaded.finally(() => aside.settle(points)).finally(left));
      return answerId;
    }).catch(async (error: unknown) => {
      aside.settle(points);
      hasFailed = true;
      halt.abort();
      const { id: requestId, xRequestId } = request;
      const [runId, sync] = [it.run.id, it.definition.name];
      const told = await (it.keepAside?.({ ...answer, requestId, xRequestId, runId, sync }, error) ?? error);
      // Each tells of those before it too; a refusal by the service says more still.
      const reason = asStop(told);
      if (reason && (stop === undefined || stop.exit === EXIT.transient)) stop = { ...reason, forAll: true };
      throw told;
    });
  // Behind the loads, so that what came in was learned from.
  const isServed = (request: LedgerRequest): Promise<boolean> =>
    loading(async () => {
      const answerId = await servedMeanwhile({ ...it, ops }, request);
      if (answerId !== undefined && it.definition.endpoint.bridge) await loadStored(it, answerId, known, request);
      return answerId !== undefined;
    });
  const handle = async (request: LedgerRequest): Promise<void> => {
    if (either.aborted) return;
    if (maybeKnown(it, request) && (await isServed(request))) return it.onEnded(0, 0);
    if (either.aborted) return;
    const turn = cutting.turnOf(request);
    if (turn.do === 'cut') return loading(() => cutPlanned(it, request, turn.into, cutting));
    // It gives its place to others meanwhile.
    if (turn.do === 'wait') return track(turn.until.then(() => handling(() => handle(request))));
    const left = cutting.enter(request);
    const points = mostOf(it.prices, countOf(request.request));
    const end = await askUntilSettled(
      request,
      {
        ...it,
        ops,
        points,
        breaker,
        purse,
        endpoint: it.definition.endpoint,
        policy: retryPolicy(it.retries),
        inDoubt: it.definition.inDoubt,
        findOut: async () => {
          const found = await it.findOut?.(new Map([[request.id, points]]), either);
          return found?.toSorted((a, b) => b.attempt - a.attempt)[0]?.points ?? undefined;
        },
        store: (sent, answer, aside) => store(sent, answer, aside, points, left),
        // Recording the refusal may have to wait for a large load; meanwhile nothing may be sent.
        onRefused: () => halt.abort(),
      },
      either,
    ).catch((error: unknown) => {
      left();
      throw error;
    });
    // What was stored is learned from first.
    if (end.as !== 'stored') left();
    if (end.as === 'stopped') stopFor(end);
    if (end.as === 'failed' && end.wholeEndpoint) {
      endpointRefused = true;
      stopFor({ exit: EXIT.rejects, because: end.because, next: end.next, forAll: false });
    }
    if (end.as !== 'stored' && end.as !== 'aborted') it.onEnded(0, 0);
    while (loading.pendingCount > BACKLOG && !either.aborted) await Promise.race(waiting);
  };

  const askAll = async (): Promise<void> => {
    // What the last invocation did not manage comes last, or a few bad inputs would keep a run from the good ones.
    const tried = it.run.continued ? await triedRequests(ops, it.run.id) : [];
    for (let last = '0'; !either.aborted; ) {
      const page = await openRequests(ops, it.run.id, last, AHEAD);
      last = page.at(-1)?.id ?? last;
      for (const request of page.length > 0 ? page : tried.splice(0, AHEAD))
        track(inTurn(request, () => handling(() => handle(request))));
      if (page.length === 0) {
        if (waiting.size > 0) await Promise.race(waiting);
        else if ((await loadWaiting()) === 0) return;
      }
      while (waiting.size >= AHEAD) await Promise.race(waiting);
    }
  };
  await askAll().catch(fail);
  while (waiting.size > 0) await Promise.all(waiting);
  await purse.close();
  if (fault) throw fault;
  if (endpointRefused) await moveAll(ops, it.run.id, ['planned'], 'skipped');
  return stop;
}

/** What stops a run without being a fault of this program. */
function asStop(thrown: unknown): Stop | undefined {
  const error = databaseTrouble(thrown);
  return error instanceof SluiceError
    ? { exit: error.exitCode, because: error.message, next: error.next ?? null, forAll: false }
    : undefined;
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

/** What an answer cost; one that could not be read may have held any number of items. */
function pointsOf({ prices }: CarryOut, { answer, batch, receipt }: Taken): number {
  const asked = countOf(answer.request);
  const isUnread = batch.items.length === 0 && receipt.quarantined > 0;
  if (isUnread) return mostOf(prices, asked);
  return costOf(prices, {
    asked,
    returned: receipt.received,
    outcome: answer.status === 412 ? 'missing' : 'answered',
  });
}

/** Loads an answer of this run; what follows from it is planned in the same transaction. */
async function loadStored(it: CarryOut, answerId: string, known: Known, asked?: AskedAs): Promise<Taken> {
  const loaded = await takeIn(it.warehouse, answerId, {
    sync: it.definition.name,
    ...(asked && { asked }),
    settles: true,
    now: it.now,
    sleep: it.sleep,
    random: it.random,
    lease: it.lease,
    ...(it.checkpoint && { checkpoint: it.checkpoint }),
    also: async (inside, taken) => {
      await planFollowing(it, inside, taken, known);
      const { answer } = taken;
      if (answer.loaded || answer.sync !== it.definition.name) return;
      const aside = mostOf(it.prices, countOf(answer.request));
      await settlePoints(inside, answer.requestId, { points: pointsOf(it, taken), aside });
    },
  });
  it.onLoaded(loaded);
  return loaded;
}
