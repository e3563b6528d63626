/** What waits to be loaded: in the order of asking, many answers in a commit, the next read while those before load. */
import { type LoadLimits, DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswers, type StoredAnswer } from '../../ledger/answers.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type IngestOptions, ingestGroups, type IngestResult } from './ingest.ts';
import type { LoadTarget, AnswerToLoad } from './read-answer.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** An answer in the vault. */
export interface QueuedAnswer {
  readonly answerId: string;
  /** Of its body. */
  readonly bytes: number;
  /** What was stored, where it is at hand still. */
  readonly answer?: StoredAnswer;
  /** For whom it is loaded, when not for the request that it answered. */
  readonly target?: LoadTarget;
}

/** Those that are read together, and those that are loaded together: answers of one item share a statement so. */
const MOST = { rows: DEFAULT_LOAD_LIMITS.rows, answers: 500, bytes: 4 * 2 ** 20 } satisfies LoadLimits;

/**
 * A load rests as long as the one before it took, and no longer than this: small ones that follow each other closely cost
 * more than they gain. Nothing is sent later for it.
 */
const MOST_REST_MS = 20;

interface PendingAnswer {
  readonly stored: QueuedAnswer;
  readonly done: (result: IngestResult) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A function that loads a stored answer behind those that it was given before. An answer that comes alone is loaded at
 * once. What ends the load of one ends it for all that were begun: each was tried by itself where that could help.
 */
export function openLoadQueue(
  warehouse: Warehouse,
  options: Omit<IngestOptions, 'most' | 'patience'>,
): (stored: QueuedAnswer) => Promise<IngestResult> {
  const waiting: PendingAnswer[] = [];
  let isOpen = false;
  let stir = Promise.withResolvers<void>();

  /** Loads what waits and what comes, until a load fails. */
  const loadAll = async (): Promise<void> => {
    const begun: PendingAnswer[] = [];
    let unread = 0;
    let isBroken = false;
    async function* servings(): AsyncGenerator<AnswerToLoad> {
      for (;;) {
        const page = pageOf(waiting);
        begun.push(...page);
        unread = page.length;
        for (const serving of await answersToLoad(warehouse, page, options)) {
          unread -= 1;
          yield serving;
        }
        if (waiting.length === 0 && !isBroken) await stir.promise;
        if (isBroken) return;
      }
    }
    const { wrapCommit = (_, work) => work() } = options;
    const rest = restsBetween(options);
    try {
      const loads = ingestGroups(warehouse, servings(), {
        ...options,
        limits: MOST,
        linger: { hasMore: () => unread > 0 || waiting.length > 0, linger: rest.end },
        wrapCommit: async (answers, work) => {
          try {
            return await rest.after(() => wrapCommit(answers, work));
          } catch (error) {
            // Nobody may wait then for an answer that never comes.
            isBroken = true;
            stir.resolve();
            throw error;
          }
        },
      });
      for await (const results of loads) for (const result of results) begun.shift()?.done(result);
    } catch (error) {
      isOpen = false;
      for (const { fail } of begun.length > 0 ? begun : waiting.splice(0)) fail(error);
      goOn();
    }
  };
  const goOn = (): void => {
    if (waiting.length === 0) return;
    stir.resolve();
    stir = Promise.withResolvers();
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

/** Rests after works: `end` resolves when the one after the last work is over. */
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

/** Takes the next out of those that wait: as many as are read together, one at least. */
function pageOf(waiting: PendingAnswer[]): PendingAnswer[] {
  let bytes = 0;
  const end = waiting.findIndex(({ stored }, place) => {
    bytes += stored.bytes;
    return place === MOST.answers || (place > 0 && bytes > MOST.bytes);
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** The answers, those that are not at hand from the vault. */
async function answersToLoad(
  warehouse: Warehouse,
  page: readonly PendingAnswer[],
  options: IngestOptions,
): Promise<AnswerToLoad[]> {
  const ops = operationsOf(warehouse);
  const apart = page.flatMap(({ stored: { answerId, answer } }) => (answer ? [] : [answerId]));
  const read = apart.length > 0 ? await retryTransient(() => readAnswers(ops, apart), options) : undefined;
  return page.map(({ stored: { answerId, answer = read?.get(answerId), target } }): AnswerToLoad => {
    if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
    return { ...answer, ...(target && { target }) };
  });
}
