/** The loader of a run: loads stored answers in the order of storage, several concurrently. */
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import type { Reservation } from '../../control/budget/reservations.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { isUnreadable } from '../../ledger/failures/unreadable-answers.ts';
import { unloadedAnswers } from '../../ledger/answers.ts';
import { expectedPointsOf, maxPointsOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import { answersToServe, type RunMemory, mayFollowUp, planFollowUps } from '../split/follow-up.ts';
import { batched } from '../../async/batcher.ts';
import { type IngestOptions, type IngestResult, ingestAnswer } from '../ingest/ingest.ts';
import { openLoadQueue, type QueuedAnswer } from '../ingest/queue.ts';
import { serveFromNewAnswers } from '../../control/freshness/freshness.ts';
import type { RunContext } from './run-context.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { openReadWriteLock } from '../../async/read-write-lock.ts';

export interface Loader {
  /**
   * Loads a stored answer together with other waiting ones; its follow-up requests are planned in the same transaction.
   */
  readonly load: (stored: QueuedAnswer) => Promise<IngestResult>;
  /** Returns the stored answer that serves this request, among those loaded before; undefined if none does. */
  readonly findServing: (request: LedgerRequest) => Promise<string | undefined>;
  /** Runs work after all earlier loads and before later ones. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Loads what an earlier invocation left and what serves this run; returns how many answers. */
  readonly loadWaiting: () => Promise<number>;
  /** The number of waiting answers. */
  readonly backlog: () => number;
}

/** Requests per lookup. */
const MOST_REQUESTS = 500;

/** Creates a loader for one run. */
export function openLoader(context: RunContext, memory: RunMemory): Loader {
  const ops = operationsOf(context.warehouse);
  const lock = openReadWriteLock();
  let last: Promise<unknown> = Promise.resolve();
  let backlog = 0;
  let served = '0';
  const sync = context.definition.name;
  const options: IngestOptions = {
    purpose: { kind: 'settle' } as const,
    now: context.now,
    sleep: context.sleep,
    random: context.random,
    leases: [context.lease],
    onLoaded: context.onLoaded,
    mayPlanMore: ({ answer, batch }) => mayFollowUp(context.definition.endpoint, answer, batch.items),
    checkpoint: context.checkpoint,
    wrapCommit: context.spans?.load,
    onCommit: async (inside, results) => {
      await planFollowUps(context, inside, results, memory);
      const own = results.filter(({ answer }) => !answer.loaded && answer.sync === sync);
      await settlePoints(
        inside,
        own.map((result) => settlementOf(context.prices(), result)),
      );
    },
  };

  const { wrapCommit = (_, work) => work() } = options;
  const loading = openLoadQueue(context.warehouse, {
    ...options,
    wrapCommit: (answers, work) => lock.shared(() => wrapCommit(answers, work)),
  });
  const load = (stored: QueuedAnswer): Promise<IngestResult> => {
    backlog += 1;
    const loaded = loading(stored).finally(() => {
      backlog -= 1;
    });
    last = loaded.catch(() => undefined);
    return loaded;
  };
  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    // Answers load in the order of calls, so the last one ends last.
    await last;
    return lock.exclusive(work);
  };
  const lookUp = batched(
    (requests: readonly LedgerRequest[]) =>
      exclusively(async () => {
        const found = await serveFromNewAnswers({ ...context, ops }, requests);
        // Each question needs bridge rows and parts of its own, and another run may not have loaded the answer yet.
        for (const identity of requests) {
          const answerId = found.get(identity.id);
          if (answerId !== undefined) await ingestAnswer(context.warehouse, answerId, options, { sync, identity });
        }
        return requests.map(({ id }) => found.get(id));
      }),
    { maxItems: MOST_REQUESTS, failsWholeBatch: () => true },
  );

  return {
    load,
    findServing: lookUp,
    exclusively,
    loadWaiting: async () => {
      const unloaded = await retryTransient(() => unloadedAnswers(ops, sync, context.run), context);
      // Results hold the bodies of the answers, so they are not kept until all are loaded.
      await allOf(
        unloaded.map(async ({ id, bytes }) => {
          await load({ answerId: id, bytes });
        }),
      );
      const rows = await retryTransient(() => answersToServe(context, ops, served), context);
      await allOf(
        rows.map(async ({ answer_id: answerId, bytes, request_key: requestKey, body: request }) => {
          await load({ answerId, bytes: Number(bytes), target: { sync, identity: { requestKey, request } } });
        }),
      );
      served = rows.at(-1)?.id ?? served;
      return unloaded.length + rows.length;
    },
    backlog: () => backlog,
  };
}

/** Waits for all promises, even if one rejects; throws the first error. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works)) if (ended.status === 'rejected') throw ended.reason;
}

/** Returns what a loaded answer cost by the prices of its calls. */
export const settlementOf = (prices: PriceBook, result: IngestResult) => ({
  requestId: result.answer.requestId,
  points: pointsOf(prices, result),
  reserved: maxPointsOf(prices, countOf(result.answer.request)),
});

/** The points that an answer cost; an unreadable one may have had any number of items. */
function pointsOf(prices: PriceBook, { answer, batch, receipt }: IngestResult): number {
  const requested = countOf(answer.request);
  if (isUnreadable(batch)) return maxPointsOf(prices, requested);
  return expectedPointsOf(prices, {
    asked: requested,
    returned: receipt.received,
    outcome: answer.status === 412 ? 'missing' : 'answered',
  });
}

/** Settles the points of a loaded answer, and reports the end of its request. */
export function reportLoaded(
  context: Pick<RunContext, 'prices' | 'onEnded'>,
  result: IngestResult,
  reservation: Pick<Reservation, 'settle'>,
): void {
  const points = pointsOf(context.prices(), result);
  reservation.settle(points);
  const rows = Object.values(result.receipt.written).reduce((sum, written) => sum + written, 0);
  context.onEnded(rows, points);
}
