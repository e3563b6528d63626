/** The commits of a run's calls: answers that came are stored, and requests marked as sent, those of a moment together. */
import { setImmediate as others } from 'node:timers/promises';
import type { Sending, Storing } from '../../ledger/exchange.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Course } from '../run/stop.ts';
import { gathered } from '../../async/batcher.ts';
import type { Loading } from '../run/loader.ts';
import { exchangeSurely } from './idempotent-commit.ts';
import { isRefused } from '../../warehouse/connect/retry-transient.ts';

export interface Commits {
  /** Commits an answer's bytes and returns its id; undefined for a request that the ledger does not have. */
  readonly store: (storing: Storing) => Promise<string | undefined>;
  /**
   * Commits that a request is about to be sent, together with the answers that were given to `store` before, or after
   * them: with those of calls under way, no more requests are ever without an outcome than there are slots.
   */
  readonly mark: (sending: Sending) => Promise<Marked>;
}

/** Ours to send; settled by somebody else meanwhile; or not to be sent, since an answer before it could not be stored. */
export type Marked = 'ours' | 'elsewhere' | 'aborted';

interface Entry {
  readonly storing?: Storing;
  readonly sending?: Sending;
}

interface Done {
  readonly answerId?: string;
  readonly marked?: Marked;
}

/** Answers and requests that share a commit. */
const MOST_TOGETHER = 500;
/** A larger answer has a commit of its own. */
const HEAVIEST_BYTES = 2 ** 20;

/** Commits in the order of asking. After an answer that could not be stored, nothing is marked any more. */
export function openCommits(it: Loading, course: Pick<Course, 'hasFailed'>): Commits {
  const ops = operationsOf(it.warehouse);
  const isOfAll = (error: unknown): boolean => !isRefused(error);
  let isLost = false;

  const exchange = async (entries: readonly Entry[]): Promise<Done[]> => {
    const storing = entries.flatMap((entry) => entry.storing ?? []);
    const sending = isLost ? [] : entries.flatMap((entry) => entry.sending ?? []);
    // Once an answer could not be stored, waiting was of no use.
    const mostTries = course.hasFailed() ? 1 : undefined;
    const { stored, marked } = await exchangeSurely({ ...it, ops }, storing, sending, mostTries).catch(
      (error: unknown) => {
        isLost ||= storing.length > 0 && (entries.length === 1 || isOfAll(error));
        throw error;
      },
    );
    const ids = new Map(storing.map((one, place) => [one, stored[place]]));
    return entries.map((entry): Done => {
      const answerId = entry.storing && ids.get(entry.storing);
      if (!entry.sending) return answerId === undefined ? {} : { answerId };
      if (!sending.includes(entry.sending)) return { marked: 'aborted' };
      return { marked: marked.has(entry.sending.id) ? 'ours' : 'elsewhere' };
    });
  };
  const commit = gathered(exchange, {
    most: MOST_TOGETHER,
    weightOf: ({ storing }) => storing?.answer.body.byteLength ?? 0,
    heaviest: HEAVIEST_BYTES,
    isOfAll,
    // A slot that an answer leaves goes to the next call at once, whose mark is to come along.
    company: () => others(),
  });
  let largestBytes = 0;
  return {
    store: async (storing) => {
      largestBytes = Math.max(largestBytes, storing.answer.body.byteLength);
      return (await commit({ storing })).answerId;
    },
    mark: async (sending) => {
      it.warehouse.assertRoom?.(largestBytes);
      return (await commit({ sending })).marked ?? 'aborted';
    },
  };
}
