/**
 * The queue of answers to load: in the order of calls, many answers in a commit, the next read during the current load.
 */
import { type LoadLimits, DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswers, type StoredAnswer } from '../../ledger/answers.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type IngestOptions, ingestGroups, type IngestResult } from './ingest.ts';
import type { LoadTarget, AnswerToLoad } from './read-answer.ts';
import { openReplacedSetCheck, type ReplacedSetCheck } from './replaced-sets.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** A stored answer. */
export interface QueuedAnswer {
  readonly answerId: string;
  /** Size of the body. */
  readonly bytes: number;
  /** The stored answer, if it is still in memory. */
  readonly answer?: StoredAnswer;
  /** The sync and request to load it for, if not the request that it answered. */
  readonly target?: LoadTarget | undefined;
}

/** Limits for reading and for loading. The number of answers is high, so that answers of one item share statements. */
const MOST = { rows: DEFAULT_LOAD_LIMITS.rows, answers: 500, bytes: 4 * 2 ** 20 } satisfies LoadLimits;

/**
 * After a load, the queue pauses as long as that load took, up to this limit. Small loads in close succession cost more
 * than the pause. The pause delays no request.
 */
const MOST_REST_MS = 20;

interface PendingAnswer {
  readonly stored: QueuedAnswer;
  readonly done: (result: IngestResult) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Returns a function that loads a stored answer after those passed before. A single answer is loaded immediately. An error
 * that ends one load rejects all answers begun with it, since each was already tried alone where that could help.
 */
export function openLoadQueue(
  warehouse: Warehouse,
  options: Omit<IngestOptions, 'limits' | 'hasMore' | 'pause'>,
): (stored: QueuedAnswer) => Promise<IngestResult> {
  const waiting: PendingAnswer[] = [];
  let isOpen = false;
  let changed = Promise.withResolvers<void>();
  const checkReplaced = openReplacedSetCheck(operationsOf(warehouse), options);

  /** Loads the waiting and the incoming answers, until a load fails. */
  const loadAll = async (): Promise<void> => {
    const begun: PendingAnswer[] = [];
    let unread = 0;
    let isBroken = false;
    async function* answersInOrder(): AsyncGenerator<AnswerToLoad> {
      for (;;) {
        const page = pageOf(waiting);
        begun.push(...page);
        unread = page.length;
        for (const answer of await answersToLoad(warehouse, page, options, checkReplaced)) {
          unread -= 1;
          yield answer;
        }
        if (waiting.length === 0 && !isBroken) await changed.promise;
        if (isBroken) return;
      }
    }
    const { wrapCommit = (_, work) => work() } = options;
    const rest = restsBetween(options);
    try {
      const loading = {
        ...options,
        limits: MOST,
        hasMore: () => unread > 0 || waiting.length > 0,
        pause: rest.end,
        wrapCommit: async <T>(answers: number, work: () => Promise<T>): Promise<T> => {
          try {
            return await rest.after(() => wrapCommit(answers, work));
          } catch (error) {
            // No load may wait for an answer that never comes.
            isBroken = true;
            changed.resolve();
            throw error;
          }
        },
      };
      await ingestGroups(warehouse, answersInOrder(), loading, (results) => {
        for (const result of results) begun.shift()?.done(result);
      });
    } catch (error) {
      isOpen = false;
      for (const { fail } of begun.length > 0 ? begun : waiting.splice(0)) fail(error);
      goOn();
    }
  };
  const goOn = (): void => {
    if (waiting.length === 0) return;
    changed.resolve();
    changed = Promise.withResolvers();
    if (isOpen) return;
    isOpen = true;
    void loadAll();
  };
  return (stored) => {
    const { promise, resolve: done, reject: fail } = Promise.withResolvers<IngestResult>();
    waiting.push({ stored, done, fail });
    goOn();
    return promise;
  };
}

/** Pauses between loads: `end` resolves when the pause after the last load is over. */
function restsBetween({ now, sleep }: Pick<IngestOptions, 'now' | 'sleep'>) {
  let endedAt = 0;
  let restMs = 0;
  return {
    after: async <T>(work: () => Promise<T>): Promise<T> => {
      const beganAt = now().getTime();
      const done = await work();
      endedAt = now().getTime();
      restMs = Math.min(endedAt - beganAt, MOST_REST_MS);
      return done;
    },
    end: async (): Promise<void> => {
      const leftMs = Math.min(restMs, endedAt + restMs - now().getTime());
      if (leftMs > 0) await sleep(leftMs);
    },
  };
}

/** Removes the next page from the waiting answers: as many as the limits allow, at least one. */
function pageOf(waiting: PendingAnswer[]): PendingAnswer[] {
  let bytes = 0;
  const end = waiting.findIndex(({ stored }, index) => {
    bytes += stored.bytes;
    return index === MOST.answers || (index > 0 && bytes > MOST.bytes);
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/**
 * Returns the answers of a page, and reads those that are not in memory from the database. These may be old, such as
 * those that a killed run left, so a newer answer may have replaced their sets.
 */
async function answersToLoad(
  warehouse: Warehouse,
  page: readonly PendingAnswer[],
  options: IngestOptions,
  checkReplaced: ReplacedSetCheck,
): Promise<readonly AnswerToLoad[]> {
  const ops = operationsOf(warehouse);
  const apart = page.flatMap(({ stored: { answerId, answer } }) => (answer ? [] : [answerId]));
  const read = apart.length > 0 ? await retryTransient(() => readAnswers(ops, apart), options) : undefined;
  const answers = page.map(({ stored: { answerId, answer = read?.get(answerId), target } }): AnswerToLoad => {
    if (!answer) throw new Error(`answer ${answerId} is not stored`);
    return { ...answer, target };
  });
  return read ? checkReplaced(answers) : answers;
}
