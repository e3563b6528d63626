/** The loader of a run: what is stored is loaded in the order of storing, many answers together. */
import type { Lease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { isUnreadable } from '../../ledger/unreadable-answers.ts';
import { unloadedAnswers } from '../../ledger/answers.ts';
import { expectedPointsOf, maxPointsOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { answersToServe, type FollowUpContext, type RunMemory, mayFollowUp, planFollowUps } from './follow-up.ts';
import { batched } from '../../async/batcher.ts';
import { type IngestOptions, type IngestResult, ingestAnswer } from '../ingest/ingest.ts';
import { openLoadQueue, type QueuedAnswer } from '../ingest/queue.ts';
import { serveFromNewAnswers } from '../../control/freshness/freshness.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { openReadWriteLock } from '../../async/read-write-lock.ts';

export interface LoaderContext extends FollowUpContext, RetryEffects {
  readonly warehouse: Warehouse;
  readonly lease: Lease;
  readonly prices: PriceBook;
  readonly checkpoint?: OnCheckpoint;
  readonly spans?: Pick<RunSpans, 'attempt' | 'load'>;
  /** Told of each answer that was loaded. */
  readonly onLoaded: (result: IngestResult) => void;
}

export interface Loader {
  /** Loads a stored answer, together with others that wait; what follows from it is planned in the same transaction. */
  readonly load: (stored: QueuedAnswer) => Promise<IngestResult>;
  /** The stored answer that serves this request by what was loaded before it was asked for; undefined without one. */
  readonly findServing: (request: LedgerRequest) => Promise<string | undefined>;
  /** Does other work behind what was to be loaded before, and before what comes later. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Loads what an earlier invocation left and what serves this run; tells how many answers that were. */
  readonly loadWaiting: () => Promise<number>;
  /** Answers that wait. */
  readonly backlog: () => number;
}

/** Requests that are looked up together. */
const MOST_REQUESTS = 500;

/** A loader for one run. */
export function openLoader(context: LoaderContext, memory: RunMemory): Loader {
  const ops = operationsOf(context.warehouse);
  const turns = openReadWriteLock();
  let last: Promise<unknown> = Promise.resolve();
  let backlog = 0;
  let served = '0';
  const sync = context.definition.name;
  const options: IngestOptions = {
    sync,
    settles: true,
    now: context.now,
    sleep: context.sleep,
    random: context.random,
    lease: context.lease,
    onLoaded: context.onLoaded,
    mayPlanMore: ({ answer, batch }) => mayFollowUp(context.definition.endpoint, answer, batch.items),
    ...(context.checkpoint && { checkpoint: context.checkpoint }),
    ...(context.spans && { wrapCommit: context.spans.load }),
    onCommit: async (inside, results) => {
      await planFollowUps(context, inside, results, memory);
      await settlePoints(
        inside,
        results.filter(({ answer }) => !answer.loaded && answer.sync === sync).map(settledOf(context)),
      );
    },
  };

  const { wrapCommit = (_, work) => work() } = options;
  const loading = openLoadQueue(context.warehouse, {
    ...options,
    wrapCommit: (answers, work) => turns.shared(() => wrapCommit(answers, work)),
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
    // They are loaded in the order of asking, so the last of them ends last.
    await last;
    return turns.exclusive(work);
  };
  const looking = batched(
    (requests: readonly LedgerRequest[]) =>
      exclusively(async () => {
        const found = await serveFromNewAnswers({ ...context, ops }, requests);
        // What the question returned is told of each question by itself.
        if (context.definition.endpoint.bridge)
          for (const identity of requests) {
            const answerId = found.get(identity.id);
            if (answerId !== undefined) await ingestAnswer(context.warehouse, answerId, { ...options, identity });
          }
        return requests.map(({ id }) => found.get(id));
      }),
    { maxItems: MOST_REQUESTS, failsWholeBatch: () => true },
  );

  return {
    load,
    findServing: looking,
    exclusively,
    loadWaiting: async () => {
      const unloaded = await retryTransient(() => unloadedAnswers(ops, sync, context.run), context);
      await allOf(unloaded.map(({ id, bytes }) => load({ answerId: id, bytes })));
      const rows = await retryTransient(() => answersToServe(context, ops, served), context);
      await allOf(
        rows.map(({ answer_id: answerId, bytes, request_key: requestKey, body: request }) =>
          load({ answerId, bytes: Number(bytes), target: { sync, identity: { requestKey, request } } }),
        ),
      );
      served = rows.at(-1)?.id ?? served;
      return unloaded.length + rows.length;
    },
    backlog: () => backlog,
  };
}

/** Waits for them all, whatever becomes of one; throws the first error. */
async function allOf(works: readonly Promise<unknown>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works)) if (ended.status === 'rejected') throw ended.reason;
}

const settledOf = (it: Pick<LoaderContext, 'prices'>) => (result: IngestResult) => ({
  requestId: result.answer.requestId,
  points: pointsOf(it, result),
  reserved: maxPointsOf(it.prices, countOf(result.answer.request)),
});

/** What an answer cost, in points; one that could not be read may have held any number of items. */
export function pointsOf({ prices }: Pick<LoaderContext, 'prices'>, { answer, batch, receipt }: IngestResult): number {
  const asked = countOf(answer.request);
  if (isUnreadable(batch)) return maxPointsOf(prices, asked);
  return expectedPointsOf(prices, {
    asked,
    returned: receipt.received,
    outcome: answer.status === 412 ? 'missing' : 'answered',
  });
}
