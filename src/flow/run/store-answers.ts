/** Stores the answers of a run and passes each to the loader. */
import pLimit from 'p-limit';
import { TransientError } from '../../errors.ts';
import type { AnsweredOutcome } from '../../extract/outcome.ts';
import type { SentRequest } from '../request/send-context.ts';
import type { GroupCommit } from '../request/group-commit.ts';
import type { StopController } from './stop-controller.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import type { QueuedAnswer } from '../ingest/queue.ts';
import type { Loader } from './loader.ts';
import type { RunContext } from './run-context.ts';

export interface AnswerStore {
  /**
   * Commits an answer's bytes, and returns its id and the promise of its load. The load resolves to undefined if the run
   * failed meanwhile; the next run then loads the answer.
   */
  readonly store: (request: SentRequest, answer: AnsweredOutcome) => Promise<StoreResult>;
  /** False while so many bytes wait for the loader that sending should pause. */
  readonly hasRoom: () => boolean;
}

export interface StoreResult {
  readonly answerId: string;
  readonly loaded: Promise<IngestResult | undefined>;
}

/**
 * Sending pauses while the bodies from storage to load exceed this. It keeps the loads that run and the next one busy; more
 * would only take memory.
 */
const PAUSE_BYTES = 4 * 2 ** 20;
/** Bodies beyond this are read back from the database: those of many large answers in flight when sending paused. */
const MOST_KEPT_BYTES = 3 * PAUSE_BYTES;

/** Creates the store of a run. After an answer could not be stored, stored answers are no longer loaded. */
export function openAnswerStore(
  context: RunContext,
  loader: Loader,
  controller: StopController,
  commits: Pick<GroupCommit, 'store'>,
): AnswerStore {
  const spooling = pLimit(1);
  /** Bytes of the bodies from storage to load, and of those in memory. */
  let waitingBytes = 0;
  let keptBytes = 0;
  const load = async (stored: QueuedAnswer): Promise<IngestResult | undefined> => {
    if (controller.hasFailed()) return undefined;
    const { answerId, bytes } = stored;
    const isKept = keptBytes + bytes <= MOST_KEPT_BYTES;
    waitingBytes += bytes;
    if (isKept) keptBytes += bytes;
    try {
      return await loader.load(isKept ? stored : { answerId, bytes });
    } finally {
      waitingBytes -= bytes;
      if (isKept) keptBytes -= bytes;
    }
  };
  const store: AnswerStore['store'] = async (request, answer) => {
    context.checkpoint?.('before_store');
    try {
      const answerId = await commits.store({ requestId: request.id, xRequestId: request.xRequestId, answer });
      if (answerId === undefined) throw lostRequestError(request);
      context.checkpoint?.('after_store');
      return { answerId, loaded: load(storedOf(context, request, answer, answerId)) };
    } catch (error) {
      controller.failFast();
      return spooling(async () => {
        const { id: requestId, xRequestId, requestKey } = request;
        const [runId, sync] = [context.run.id, context.definition.name];
        const runError = await (context.spoolAnswer?.(
          { ...answer, requestId, xRequestId, requestKey, runId, sync },
          error,
        ) ?? error);
        controller.failStore(runError);
        throw runError;
      });
    }
  };
  return { store, hasRoom: () => waitingBytes <= PAUSE_BYTES };
}

/** A failover to a standby that lags, and a restore, take the ledger back to a time before the request. */
const lostRequestError = ({ id }: SentRequest): TransientError =>
  new TransientError(`the database no longer has request ${id}, as after a failover that lost transactions`, {
    next: 'Run the sync again: it requests again what the database lost.',
  });

/** The answer as it would be read back from the database. */
const storedOf = (
  { run, definition }: RunContext,
  { id: requestId, requestKey, request }: SentRequest,
  { status, body, receivedAt, tookMs }: AnsweredOutcome,
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
    // With microseconds, as the database returns it.
    receivedAt: receivedAt.toISOString().replace('Z', '000Z'),
    tookMs: Math.round(tookMs),
    status,
    body,
    damage: undefined,
    loaded: false,
    hasEarlyRejects: false,
  },
});
