/** Carries out a run: asks what is open, stores each answer, loads in the order of storing, and plans what follows. */
import pLimit from 'p-limit';
import { EXIT, SluiceError } from '../errors.ts';
import type { Client } from '../extract/client.ts';
import type { Answered } from '../extract/outcome.ts';
import { retryPolicy } from '../extract/retry.ts';
import type { BudgetGuard } from '../ops/budget.ts';
import type { Lease } from '../ops/lease.ts';
import { type LedgerRequest, moveAll, openRequests, returnPoints, triedRequests } from '../ops/ledger.ts';
import { operationsOf } from '../ops/schema.ts';
import { storeAnswer, storedAs, unloadedAnswers } from '../ops/vault.ts';
import { dearest, type Price, pointsFor } from '../service/endpoint.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { askUntilSettled } from './attempt.ts';
import { openBreaker } from './breaker.ts';
import { answersToServe, type Following, planFollowing, type Walks } from './follow.ts';
import { type Taken, takeIn } from './intake.ts';
import { type Aside, openPurse } from './purse.ts';
import { databaseTrouble, steadily } from './steady.ts';

/** Why nothing more is sent in this run. */
export interface Stop {
  readonly exit: number;
  readonly because: string;
  readonly next: string | null;
  /** Nor would the service answer any other sync: it refuses the token, or the account is empty. */
  readonly forAll: boolean;
}

export interface CarryOut extends Following {
  readonly warehouse: Warehouse;
  readonly lease: Lease;
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  readonly budget: BudgetGuard;
  readonly price: Price;
  readonly turn: (signal: AbortSignal) => Promise<void>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onDoubt: (because: string, again: boolean) => void;
  readonly onSent: (sentAt: Date) => () => void;
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
  const walks: Walks = new Map();
  const storing = pLimit(1);
  const loading = pLimit(1);
  const gate = pLimit(it.inFlight);
  const waiting = new Set<Promise<void>>();
  const breaker = openBreaker(it.sleep);
  const purse = openPurse(it.budget);
  let endpointRefused = false;

  // What is stored is loaded before anything new is sent; tells how much that was.
  let served = '0';
  const loadWaiting = async (): Promise<number> => {
    const unloaded = await unloadedAnswers(ops, it.definition.name);
    for (const answerId of unloaded) await loadStored(it, answerId, walks);
    const rows = await answersToServe(it, ops, served);
    for (const row of rows) await loadStored(it, row.answer_id, walks);
    served = rows.at(-1)?.id ?? served;
    return unloaded.length + rows.length;
  };
  await loadWaiting();

  let fault: Error | undefined;
  // Whatever goes wrong, calls in flight are awaited and stored, and nothing new is sent.
  const fail = (error: unknown): void => {
    const reason = asStop(error);
    if (!reason) fault ??= error instanceof Error ? error : new Error(String(error));
    stopFor(reason ?? { exit: EXIT.bug, because: 'a fault of this program', next: null, forAll: false });
  };
  const track = (work: Promise<void>): void => {
    const guarded = work.catch(fail).finally(() => waiting.delete(guarded));
    waiting.add(guarded);
  };
  // One at a time, so that answers queue for the loader in the order of their ids.
  const store = (requestId: string, answer: Answered, aside: Aside, points: number): Promise<string> =>
    storing(async () => {
      const answerId = await steadily(
        async (failures) =>
          (failures === 0 ? undefined : await storedAs(ops, requestId, answer)) ??
          (await storeAnswer(ops, requestId, answer)),
        it,
      );
      const loaded = loading(async () => tellLoaded(it, await loadStored(it, answerId, walks), aside));
      track(loaded.finally(() => aside.settle(points)));
      return answerId;
    }).catch((error: unknown) => {
      aside.settle(points);
      throw error;
    });
  const handle = async (request: LedgerRequest): Promise<void> => {
    if (either.aborted) return;
    const points = dearest(it.price, request.request);
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
        store: (requestId, answer, aside) => store(requestId, answer, aside, points),
        // Recording the refusal may have to wait for a large load; meanwhile nothing may be sent.
        onRefused: () => halt.abort(),
      },
      either,
    );
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
      for (const request of page.length > 0 ? page : tried.splice(0, AHEAD)) track(gate(() => handle(request)));
      if (page.length === 0) {
        if (waiting.size > 0) await Promise.race(waiting);
        else if ((await loadWaiting()) === 0) return;
      }
      while (waiting.size >= AHEAD) await Promise.race(waiting);
    }
  };
  await askAll().catch(fail);
  while (waiting.size > 0) await Promise.all(waiting);
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

function tellLoaded(it: CarryOut, { receipt }: Taken, aside: Aside): void {
  const points = pointsFor(it.price, receipt.received);
  aside.settle(points);
  it.onEnded(
    Object.values(receipt.written).reduce((sum, rows) => sum + rows, 0),
    points,
  );
}

/** Loads an answer of this run; what follows from it is planned in the same transaction. */
async function loadStored(it: CarryOut, answerId: string, walks: Walks): Promise<Taken> {
  const loaded = await takeIn(it.warehouse, answerId, {
    sync: it.definition.name,
    settles: true,
    now: it.now,
    sleep: it.sleep,
    random: it.random,
    lease: it.lease,
    also: async (inside, taken) => {
      await planFollowing(it, inside, taken, walks);
      const { answer, receipt } = taken;
      const points = dearest(it.price, answer.request) - pointsFor(it.price, receipt.received);
      if (!answer.loaded && answer.sync === it.definition.name) await returnPoints(inside, answer.requestId, points);
    },
  });
  it.onLoaded(loaded);
  return loaded;
}
