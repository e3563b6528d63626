/** Stores the answers of a run and hands each to the loader. */
import pLimit from 'p-limit';
import type { AnsweredOutcome } from '../../extract/outcome.ts';
import type { SentRequest } from '../request/request.ts';
import type { GroupCommit } from '../request/group-commit.ts';
import type { StopController } from './stop-controller.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import type { QueuedAnswer } from '../ingest/queue.ts';
import type { Loader, LoaderContext } from './loader.ts';
import type { SpoolWriter } from '../../recovery/spool/spool.ts';

export interface StoreContext extends LoaderContext {
  /** Keeps an answer that could not be stored; returns the error to end the run with. */
  readonly spoolAnswer?: SpoolWriter;
}

/**
 * Commits an answer's bytes, and returns its id with the promise of its load: undefined when the run failed meanwhile,
 * and the answer waits for the next.
 */
export type AnswerStore = (request: SentRequest, answer: AnsweredOutcome) => Promise<StoreResult>;

export interface StoreResult {
  readonly answerId: string;
  readonly loaded: Promise<IngestResult | undefined>;
}

/** Bodies that are kept in memory from storing to loading, of all answers together; others are read back. */
const AT_HAND_BYTES = 4 * 2 ** 20;

/** Stores a run's answers. After one that could not be stored, what is stored is no longer loaded. */
export function openAnswerStore(
  context: StoreContext,
  loader: Loader,
  controller: StopController,
  commits: Pick<GroupCommit, 'store'>,
): AnswerStore {
  const keeping = pLimit(1);
  let atHandBytes = 0;
  const load = async (stored: QueuedAnswer): Promise<IngestResult | undefined> => {
    if (controller.hasFailed()) return undefined;
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
    context.checkpoint?.('before_store');
    try {
      const answerId = await commits.store({ requestId: request.id, answer });
      if (answerId === undefined) throw new Error(`the ledger has no request ${request.id} for the answer that came`);
      context.checkpoint?.('after_store');
      return { answerId, loaded: load(storedOf(context, request, answer, answerId)) };
    } catch (error) {
      controller.failFast();
      return keeping(async () => {
        const { id: requestId, xRequestId } = request;
        const [runId, sync] = [context.run.id, context.definition.name];
        const told = await (context.spoolAnswer?.({ ...answer, requestId, xRequestId, runId, sync }, error) ?? error);
        controller.failStore(told);
        throw told;
      });
    }
  };
}

/** An answer as the vault would give it back. */
const storedOf = (
  { run, definition }: LoaderContext,
  { id: requestId, requestKey, request }: SentRequest,
  { status, body, receivedAt }: AnsweredOutcome,
  answerId: string,
): QueuedAnswer => ({
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
