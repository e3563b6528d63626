/**
 * The queue of answers to load: in the order of calls, many answers in a commit, the next read during the current load.
 */
import { type BatchLimits, endOfBatch } from '../../async/in-batches.ts';
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
  readonly target?: LoadTarget | undefined;
}

/** Limits for reading and for loading. The number of answers is high, so that answers of one item share statements. */
const MOST = { rows: DEFAULT_LOAD_LIMITS.rows, answers: 500, bytes: 4 * 2 ** 20 } satisfies LoadLimits;

/** Answers that are read at a time. */
const PAGE: BatchLimits<PendingAnswer> = {
  maxItems: MOST.answers,
  maxWeight: MOST.bytes,
  weightOf: ({ stored }) => stored.bytes,
};

/**
 * After a load, the queue pauses as long as that load took, up to this limit. Small loads in close succession cost more
 * than the pause. The pause delays no request.
 */
const MAX_PAUSE_MS = 20;

type QueueOptions = Omit<IngestOptions, 'limits' | 'hasMore' | 'pause'>;

interface PendingAnswer {
  readonly stored: QueuedAnswer;
  readonly done: (result: IngestResult) => void;
  readonly fail: (error: unknown) => void;
}

/** A stream of answers through `ingestGroups`. It takes answers until one of its commits fails. */
interface Stream {
  /** Answers that the stream has taken and not reported, in order. */
  readonly begun: PendingAnswer[];
  /** Answers of the page in progress that are not passed on yet. */
  unread: number;
  hasFailed: boolean;
}

/**
 * Returns a function that loads a stored answer after those passed before. A single answer is loaded immediately. An error
 * that ends one stream rejects all answers begun in it, since each was already tried alone where that could help.
 */
export function openLoadQueue(
  warehouse: Warehouse,
  options: QueueOptions,
): (stored: QueuedAnswer) => Promise<IngestResult> {
  const queue = new LoadQueue(warehouse, options);
  return (stored) => queue.load(stored);
}

class LoadQueue {
  readonly #warehouse: Warehouse;
  readonly #options: QueueOptions;
  readonly #checkReplaced: ReplacedSetCheck;
  /** Answers that no stream has taken, in order. */
  readonly #waiting: PendingAnswer[] = [];
  #isRunning = false;
  /** Resolves when an answer arrives, or when the stream fails. */
  #changed = Promise.withResolvers<void>();

  constructor(warehouse: Warehouse, options: QueueOptions) {
    this.#warehouse = warehouse;
    this.#options = options;
    this.#checkReplaced = openReplacedSetCheck(operationsOf(warehouse), options);
  }

  load(stored: QueuedAnswer): Promise<IngestResult> {
    const { promise, resolve: done, reject: fail } = Promise.withResolvers<IngestResult>();
    this.#waiting.push({ stored, done, fail });
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Opens a stream, and another one after each error while answers wait. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const stream: Stream = { begun: [], unread: 0, hasFailed: false };
      try {
        await this.#loadAll(stream);
        // Without an error, a stream ends only if the caller stopped the fill of new columns. Then nothing is loaded.
        return;
      } catch (error) {
        const failed = stream.begun.length > 0 ? stream.begun : this.#waiting.splice(0);
        for (const { fail } of failed) fail(error);
      }
    }
    this.#isRunning = false;
  }

  /** Loads the waiting and the arriving answers until a commit fails, and then throws its error. */
  async #loadAll(stream: Stream): Promise<void> {
    const { wrapCommit = (_, work) => work() } = this.#options;
    const pauses = openPauses(this.#options);
    const loading: IngestOptions = {
      ...this.#options,
      limits: MOST,
      hasMore: () => stream.unread > 0 || this.#waiting.length > 0,
      pause: pauses.wait,
      wrapCommit: async (answers, work) => {
        try {
          return await pauses.timed(() => wrapCommit(answers, work));
        } catch (error) {
          stream.hasFailed = true;
          // The stream may be waiting for an answer that never arrives.
          this.#changed.resolve();
          throw error;
        }
      },
    };
    await ingestGroups(this.#warehouse, this.#takeAnswers(stream), loading, (results) => {
      for (const result of results) stream.begun.shift()?.done(result);
    });
  }

  /** Takes answers in order, a page at a time. Waits for the next answer while none is there. */
  async *#takeAnswers(stream: Stream): AsyncGenerator<AnswerToLoad> {
    while (!stream.hasFailed) {
      const page = this.#waiting.splice(0, endOfBatch(this.#waiting, PAGE));
      stream.begun.push(...page);
      stream.unread = page.length;
      for (const answer of await answersToLoad(this.#warehouse, page, this.#options, this.#checkReplaced)) {
        stream.unread -= 1;
        yield answer;
      }
      if (this.#waiting.length === 0 && !stream.hasFailed) await this.#changed.promise;
    }
  }
}

/** Pauses between loads: `timed` measures a load, and `wait` resolves when the pause after the last load is over. */
function openPauses({ now, sleep }: Pick<QueueOptions, 'now' | 'sleep'>) {
  let endedAt = 0;
  let pauseMs = 0;
  return {
    timed: async <T>(work: () => Promise<T>): Promise<T> => {
      const startedAt = now().getTime();
      const result = await work();
      endedAt = now().getTime();
      pauseMs = Math.min(endedAt - startedAt, MAX_PAUSE_MS);
      return result;
    },
    wait: async (): Promise<void> => {
      const leftMs = Math.min(pauseMs, endedAt + pauseMs - now().getTime());
      if (leftMs > 0) await sleep(leftMs);
    },
  };
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
