/**
 * Group commits of a run's calls: one transaction stores all answers, and records all requests as sent, that wait at the
 * time.
 */
import { yieldToEventLoop } from '../../async/yield-to-event-loop.ts';
import type { RequestToSend, AnswerToStore } from '../../ledger/requests/store-and-record-sent.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { StopController } from '../run/stop-controller.ts';
import { batched } from '../../async/batcher.ts';
import type { RunContext } from '../run/run-context.ts';
import { commitIdempotently } from './idempotent-commit.ts';
import { isRefused } from '../../warehouse/connect/retry-transient.ts';

export interface GroupCommit {
  /** Commits an answer's bytes and returns its id; undefined if the ledger does not have the request. */
  readonly store: (storing: AnswerToStore) => Promise<string | undefined>;
  /**
   * Commits that a request is about to be sent, together with or after the answers passed to `store` before. So the
   * number of requests without an outcome never exceeds the number of slots.
   */
  readonly recordSent: (sending: RequestToSend) => Promise<RecordSentResult>;
}

/**
 * This process may send it; another process settled it, or another run bought its answer or is buying it; or an earlier
 * answer could not be stored, so nothing is sent.
 */
export type RecordSentResult = 'ours' | 'elsewhere' | 'aborted';

interface PendingEntry {
  readonly storing?: AnswerToStore;
  readonly sending?: RequestToSend;
}

interface EntryResult {
  readonly answerId?: string;
  readonly recorded?: RecordSentResult;
}

/** Most answers and requests in a commit. */
const MOST_TOGETHER = 500;
/** A larger answer has a commit of its own. */
const HEAVIEST_BYTES = 2 ** 20;

/** Creates commits in the order of calls. After an answer could not be stored, no request is recorded as sent. */
export function openGroupCommit(context: RunContext, controller: Pick<StopController, 'hasFailed'>): GroupCommit {
  const ops = operationsOf(context.warehouse);
  const failsWholeBatch = (error: unknown): boolean => !isRefused(error);
  let hasStoreFailed = false;

  const commitEntries = async (entries: readonly PendingEntry[]): Promise<EntryResult[]> => {
    const storing = entries.flatMap((entry) => entry.storing ?? []);
    const sending = hasStoreFailed ? [] : entries.flatMap((entry) => entry.sending ?? []);
    // After a failed store, further retries are useless.
    const mostTries = controller.hasFailed() ? 1 : undefined;
    const { answerIds, sentIds } = await commitIdempotently({ ...context, ops }, storing, sending, mostTries).catch(
      (error: unknown) => {
        hasStoreFailed ||= storing.length > 0 && (entries.length === 1 || failsWholeBatch(error));
        throw error;
      },
    );
    const ids = new Map(storing.map((one, index) => [one, answerIds[index]]));
    return entries.map((entry): EntryResult => {
      const answerId = entry.storing && ids.get(entry.storing);
      if (!entry.sending) return answerId === undefined ? {} : { answerId };
      if (!sending.includes(entry.sending)) return { recorded: 'aborted' };
      return { recorded: sentIds.has(entry.sending.id) ? 'ours' : 'elsewhere' };
    });
  };
  const commit = batched(commitEntries, {
    maxItems: MOST_TOGETHER,
    weightOf: ({ storing }) => storing?.answer.body.byteLength ?? 0,
    maxWeight: HEAVIEST_BYTES,
    failsWholeBatch,
    // A released slot goes to the next call immediately, whose record should join this commit.
    linger: yieldToEventLoop,
  });
  let largestBytes = 0;
  return {
    store: async (storing) => {
      largestBytes = Math.max(largestBytes, storing.answer.body.byteLength);
      return (await commit({ storing })).answerId;
    },
    recordSent: async (sending) => {
      context.warehouse.assertRoom?.(largestBytes);
      return (await commit({ sending })).recorded ?? 'aborted';
    },
  };
}
