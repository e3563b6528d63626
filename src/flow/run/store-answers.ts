/** Stores the answers of a run and hands each to the loader. */
import pLimit from 'p-limit';
import type { Answered } from '../../extract/outcome.ts';
import type { SentRequest } from '../request/request.ts';
import type { Commits } from '../request/group-commit.ts';
import type { Course } from './stop.ts';
import type { Taken } from '../ingest/ingest.ts';
import type { Stored } from '../ingest/queue.ts';
import type { Loader, Loading } from './loader.ts';
import type { KeepAside } from '../../recovery/spool/spool.ts';

export interface Keeping extends Loading {
  /** Keeps an answer that could not be stored; returns the error to end the run with. */
  readonly keepAside?: KeepAside;
}

/**
 * Commits an answer's bytes, and returns its id with the promise of its load: undefined when the run failed meanwhile,
 * and the answer waits for the next.
 */
export type Store = (request: SentRequest, answer: Answered) => Promise<Kept>;

export interface Kept {
  readonly answerId: string;
  readonly loaded: Promise<Taken | undefined>;
}

/** Bodies that are kept in memory from storing to loading, of all answers together; others are read back. */
const AT_HAND_BYTES = 4 * 2 ** 20;

/** Stores a run's answers. After one that could not be stored, what is stored is no longer loaded. */
export function openStore(it: Keeping, loader: Loader, course: Course, commits: Pick<Commits, 'store'>): Store {
  const keeping = pLimit(1);
  let atHandBytes = 0;
  const load = async (stored: Stored): Promise<Taken | undefined> => {
    if (course.hasFailed()) return undefined;
    const { answerId, bytes } = stored;
    if (atHandBytes + bytes > AT_HAND_BYTES) return loader.load({ answerId, bytes });
    atHandBytes += bytes;
    try {
      return await loader.load(stored);
    } finally {
      atHandBytes -= bytes;
    }
  };
  return async (request, answer) => {
    it.checkpoint?.('before_store');
    try {
      const answerId = await commits.store({ requestId: request.id, answer });
      if (answerId === undefined) throw new Error(`the ledger has no request ${request.id} for the answer that came`);
      it.checkpoint?.('after_store');
      return { answerId, loaded: load(storedOf(it, request, answer, answerId)) };
    } catch (error) {
      course.breakOff();
      return keeping(async () => {
        const { id: requestId, xRequestId } = request;
        const [runId, sync] = [it.run.id, it.definition.name];
        const told = await (it.keepAside?.({ ...answer, requestId, xRequestId, runId, sync }, error) ?? error);
        course.failToStore(told);
        throw told;
      });
    }
  };
}

/** An answer as the vault would give it back. */
const storedOf = (
  { run, definition }: Loading,
  { id: requestId, requestKey, request }: SentRequest,
  { status, body, receivedAt }: Answered,
  answerId: string,
): Stored => ({
  answerId,
  bytes: body.byteLength,
  answer: {
    id: answerId,
    requestId,
    runId: run.id,
    sync: definition.name,
    endpoint: definition.endpoint.name,
    requestKey,
    request,
    // To the microsecond, as the vault tells it.
    receivedAt: receivedAt.toISOString().replace('Z', '000Z'),
    status,
    body,
    damage: undefined,
    loaded: false,
  },
});
