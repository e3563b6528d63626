/** Carries out a run: asks what is open, stores each answer, loads in the order of storing, and plans what follows. */
import pLimit from 'p-limit';
import { EXIT, SluiceError } from '../errors.ts';
import type { Client } from '../extract/client.ts';
import { retryPolicy } from '../extract/retry.ts';
import type { BudgetGuard } from '../ops/budget.ts';
import type { Lease } from '../ops/lease.ts';
import { type LedgerRequest, moveAll, openRequests } from '../ops/ledger.ts';
import { type Ops, operationsOf } from '../ops/schema.ts';
import { storeAnswer, unloadedAnswers } from '../ops/vault.ts';
import { dearest, type Price, pointsFor } from '../service/endpoint.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { askUntilSettled, type End } from './attempt.ts';
import { answersToServe, type Following, planFollowing, type Walks } from './follow.ts';
import { type Taken, takeIn } from './intake.ts';

/** Why nothing more is sent in this run. */
export interface Stop {
  readonly exit: number;
  readonly because: string;
  readonly next: string | null;
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

  // What is stored is loaded before anything new is sent.
  for (const answerId of await unloadedAnswers(ops, it.definition.name)) await loadStored(it, answerId, walks);
  const serve = async (afterId: string): Promise<string> => {
    const rows = await answersToServe(it, ops, afterId);
    for (const row of rows) await loadStored(it, row.answer_id, walks);
    return rows.at(-1)?.id ?? afterId;
  };
  let served = await serve('0');

  let fault: unknown;
  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => {
        const reason = asStop(error);
        if (!reason) fault ??= error;
        stopFor(reason ?? { exit: EXIT.bug, because: 'a fault of this program', next: null });
      })
      .finally(() => waiting.delete(guarded));
    waiting.add(guarded);
  };
  const handle = async (request: LedgerRequest): Promise<void> => {
    if (either.aborted) return;
    const points = dearest(it.price, request.request);
    const end = await askUntilSettled(
      request,
      {
        ...it,
        ops,
        points,
        endpoint: it.definition.endpoint,
        policy: retryPolicy(it.retries),
        inDoubt: it.definition.inDoubt,
        store: (requestId, answer) =>
          // One at a time, so that answers queue for the loader in the order of their ids.
          storing(async () => {
            const answerId = await storeAnswer(ops, requestId, answer);
            track(loading(async () => settleLoad(it, await loadStored(it, answerId, walks), points)));
            return answerId;
          }),
      },
      either,
    );
    await afterEnd(it, ops, end, stopFor);
    while (loading.pendingCount > BACKLOG && !either.aborted) await Promise.race(waiting);
  };

  let last = '0';
  while (!either.aborted) {
    const page = await openRequests(ops, it.run.id, last, AHEAD);
    for (const request of page) track(gate(() => handle(request)));
    last = page.at(-1)?.id ?? last;
    if (page.length === 0) {
      if (waiting.size > 0) await Promise.race(waiting);
      else {
        const before = served;
        served = await serve(served);
        if (served === before) break;
      }
    }
    while (waiting.size >= AHEAD) await Promise.race(waiting);
  }
  while (waiting.size > 0) await Promise.all(waiting);
  if (fault !== undefined) throw fault;
  return stop;
}

/** What stops a run without being a fault of this program. */
function asStop(error: unknown): Stop | undefined {
  return error instanceof SluiceError
    ? { exit: error.exitCode, because: error.message, next: error.next ?? null }
    : undefined;
}

async function afterEnd(it: CarryOut, ops: Ops, end: End, stopFor: (stop: Stop) => void): Promise<void> {
  if (end.as === 'stopped') stopFor({ exit: end.exit, because: end.because, next: end.next });
  if (end.as === 'failed' && end.wholeEndpoint) {
    await moveAll(ops, it.run.id, ['planned'], 'skipped');
    stopFor({ exit: EXIT.rejects, because: end.because, next: end.next });
  }
  if (end.as !== 'stored' && end.as !== 'aborted') it.onEnded(0, 0);
}

function settleLoad(it: CarryOut, taken: Taken, reserved: number): void {
  const points = pointsFor(it.price, taken.receipt.received);
  if (points < reserved) it.budget.giveBack(reserved - points);
  it.onEnded(
    Object.values(taken.receipt.written).reduce((sum, rows) => sum + rows, 0),
    points,
  );
}

/** Loads an answer of this run; what follows from it is planned in the same transaction. */
async function loadStored(it: CarryOut, answerId: string, walks: Walks): Promise<Taken> {
  return takeIn(it.warehouse, answerId, {
    sync: it.definition.name,
    now: it.now,
    sleep: it.sleep,
    random: it.random,
    lease: it.lease,
    also: (inside, taken) => planFollowing(it, inside, taken, walks),
  });
}
