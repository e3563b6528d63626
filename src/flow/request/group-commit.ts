/** The commits of a run's calls: answers that came are stored, and requests marked as sent, those of a moment together. */
import { setImmediate as others } from 'node:timers/promises';
import type { RequestToSend, AnswerToStore } from '../../ledger/store-and-mark-sent.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { StopController } from '../run/stop-controller.ts';
import { batched } from '../../async/batcher.ts';
import type { LoaderContext } from '../run/loader.ts';
import { commitIdempotently } from './idempotent-commit.ts';
import { isRefused } from '../../warehouse/connect/retry-transient.ts';

export interface GroupCommit {
  /** Commits an answer's bytes and returns its id; undefined for a request that the ledger does not have. */
  readonly store: (storing: AnswerToStore) => Promise<string | undefined>;
  /**
   * Commits that a request is about to be sent, together with the answers that were given to `store` before, or after
   * them: with those of calls under way, no more requests are ever without an outcome than there are slots.
   */
  readonly markSent: (sending: RequestToSend) => Promise<MarkSentResult>;
}

/** Ours to send; settled by somebody else meanwhile; or not to be sent, since an answer before it could not be stored. */
export type MarkSentResult = 'ours' | 'elsewhere' | 'aborted';

interface PendingEntry {
  readonly storing?: AnswerToStore;
  readonly sending?: RequestToSend;
}

interface EntryResult {
  readonly answerId?: string;
  readonly marked?: MarkSentResult;
}

/** Answers and requests that share a commit. */
const MOST_TOGETHER = 500;
/** A larger answer has a commit of its own. */
const HEAVIEST_BYTES = 2 ** 20;

/** Commits in the order of asking. After an answer that could not be stored, nothing is marked any more. */
export function openGroupCommit(context: LoaderContext, controller: Pick<StopController, 'hasFailed'>): GroupCommit {
  const ops = operationsOf(context.warehouse);
  const failsWholeBatch = (error: unknown): boolean => !isRefused(error);
  let isLost = false;

  const exchange = async (entries: readonly PendingEntry[]): Promise<EntryResult[]> => {
    const storing = entries.flatMap((entry) => entry.storing ?? []);
    const sending = isLost ? [] : entries.flatMap((entry) => entry.sending ?? []);
    // Once an answer could not be stored, waiting was of no use.
    const mostTries = controller.hasFailed() ? 1 : undefined;
    const { answerIds, sentIds } = await commitIdempotently({ ...context, ops }, storing, sending, mostTries).catch(
      (error: unknown) => {
        isLost ||= storing.length > 0 && (entries.length === 1 || failsWholeBatch(error));
        throw error;
      },
    );
    const ids = new Map(storing.map((one, place) => [one, answerIds[place]]));
    return entries.map((entry): EntryResult => {
      const answerId = entry.storing && ids.get(entry.storing);
      if (!entry.sending) return answerId === undefined ? {} : { answerId };
      if (!sending.includes(entry.sending)) return { marked: 'aborted' };
      return { marked: sentIds.has(entry.sending.id) ? 'ours' : 'elsewhere' };
    });
  };
  const commit = batched(exchange, {
    maxItems: MOST_TOGETHER,
    weightOf: ({ storing }) => storing?.answer.body.byteLength ?? 0,
    maxWeight: HEAVIEST_BYTES,
    failsWholeBatch,
    // A slot that an answer leaves goes to the next call at once, whose mark is to come along.
    linger: () => others(),
  });
  let largestBytes = 0;
  return {
    store: async (storing) => {
      largestBytes = Math.max(largestBytes, storing.answer.body.byteLength);
      return (await commit({ storing })).answerId;
    },
    markSent: async (sending) => {
      context.warehouse.assertRoom?.(largestBytes);
      return (await commit({ sending })).marked ?? 'aborted';
    },
  };
}
