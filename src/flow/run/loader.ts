/** The loader of a run: what is stored is loaded in the order of storing, many answers together. */
import type { Lease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { isUnreadable } from '../../ledger/unreadable-answers.ts';
import { unloadedAnswers } from '../../ledger/answers.ts';
import { costOf, mostOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import { countOf } from '../../service/endpoint.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { answersToServe, type Following, type Known, mayLead, planFollowing } from './follow-up.ts';
import { gathered } from '../../async/batcher.ts';
import { type IntakeOptions, type Taken, takeIn } from '../ingest/ingest.ts';
import { openLoadQueue, type Stored } from '../ingest/queue.ts';
import { servedMeanwhile } from '../../control/freshness/freshness.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import { type Steady, steadily } from '../../warehouse/connect/retry-transient.ts';
import { openTurns } from '../../async/read-write-lock.ts';

export interface Loading extends Following, Steady {
  readonly warehouse: Warehouse;
  readonly lease: Lease;
  readonly prices: PriceBook;
  readonly checkpoint?: OnCheckpoint;
  readonly spans?: Pick<RunSpans, 'attempt' | 'load'>;
  /** Told of each answer that was loaded. */
  readonly onLoaded: (taken: Taken) => void;
}

export interface Loader {
  /** Loads a stored answer, together with others that wait; what follows from it is planned in the same transaction. */
  readonly load: (stored: Stored) => Promise<Taken>;
  /** The stored answer that serves this request by what was loaded before it was asked for; undefined without one. */
  readonly served: (request: LedgerRequest) => Promise<string | undefined>;
  /** Does other work behind what was to be loaded before, and before what comes later. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Loads what an earlier invocation left and what serves this run; tells how many answers that were. */
  readonly loadWaiting: () => Promise<number>;
  /** Answers that wait. */
  readonly backlog: () => number;
}

/** Requests that are looked up together. */
const MOST_REQUESTS = 500;

/** A loader for one run. */
export function openLoader(it: Loading, known: Known): Loader {
  const ops = operationsOf(it.warehouse);
  const turns = openTurns();
  let last: Promise<unknown> = Promise.resolve();
  let backlog = 0;
  let served = '0';
  const sync = it.definition.name;
  const options: IntakeOptions = {
    sync,
    settles: true,
    now: it.now,
    sleep: it.sleep,
    random: it.random,
    lease: it.lease,
    onLoaded: it.onLoaded,
    leads: ({ answer, batch }) => mayLead(it.definition.endpoint, answer, batch.items),
    ...(it.checkpoint && { checkpoint: it.checkpoint }),
    ...(it.spans && { within: it.spans.load }),
    also: async (inside, takens) => {
      await planFollowing(it, inside, takens, known);
      await settlePoints(
        inside,
        takens.filter(({ answer }) => !answer.loaded && answer.sync === sync).map(settledOf(it)),
      );
    },
  };

  const { within = (_, work) => work() } = options;
  const loading = openLoadQueue(it.warehouse, {
    ...options,
    within: (answers, work) => turns.together(() => within(answers, work)),
  });
  const load = (stored: Stored): Promise<Taken> => {
    backlog += 1;
    const loaded = loading(stored).finally(() => {
      backlog -= 1;
    });
    last = loaded.catch(() => undefined);
    return loaded;
  };
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    // They are loaded in the order of asking, so the last of them ends last.
    await last;
    return turns.alone(work);
  };
  const looking = gathered(
    (requests: readonly LedgerRequest[]) =>
      inTurn(async () => {
        const found = await servedMeanwhile({ ...it, ops }, requests);
        // What the question returned is told of each question by itself.
        if (it.definition.endpoint.bridge)
          for (const asked of requests) {
            const answerId = found.get(asked.id);
            if (answerId !== undefined) await takeIn(it.warehouse, answerId, { ...options, asked });
          }
        return requests.map(({ id }) => found.get(id));
      }),
    { most: MOST_REQUESTS, isOfAll: () => true },
  );

  return {
    load,
    served: looking,
    inTurn,
    loadWaiting: async () => {
      const unloaded = await steadily(() => unloadedAnswers(ops, sync, it.run), it);
      await allOf(unloaded.map(({ id, bytes }) => load({ answerId: id, bytes })));
      const rows = await steadily(() => answersToServe(it, ops, served), it);
      await allOf(
        rows.map(({ answer_id: answerId, bytes, request_key: requestKey, body: request }) =>
          load({ answerId, bytes: Number(bytes), serves: { sync, asked: { requestKey, request } } }),
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

const settledOf = (it: Pick<Loading, 'prices'>) => (taken: Taken) => ({
  requestId: taken.answer.requestId,
  points: pointsOf(it, taken),
  aside: mostOf(it.prices, countOf(taken.answer.request)),
});

/** What an answer cost, in points; one that could not be read may have held any number of items. */
export function pointsOf({ prices }: Pick<Loading, 'prices'>, { answer, batch, receipt }: Taken): number {
  const asked = countOf(answer.request);
  if (isUnreadable(batch)) return mostOf(prices, asked);
  return costOf(prices, {
    asked,
    returned: receipt.received,
    outcome: answer.status === 412 ? 'missing' : 'answered',
  });
}
