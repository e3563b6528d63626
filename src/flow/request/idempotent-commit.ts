/**
 * Changes the state of requests in the ledger exactly once. If the outcome of a commit is unknown, the ledger is read
 * back.
 */
import type { Lease } from '../../ledger/lease.ts';
import {
  recordSent,
  type RequestToSend,
  storeAndRecordSent,
  storeAnswers,
  type AnswerToStore,
} from '../../ledger/requests/store-and-record-sent.ts';
import { settleRequest, type Settlement } from '../../ledger/requests/states.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { storedAnswerId } from '../../ledger/answers.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface CommitContext extends RetryEffects {
  readonly ops: Ops;
  readonly lease: Lease;
}

/** The result of a commit. */
export interface CommitResult {
  /** Ids of the answers, in order; undefined for a request that the ledger does not have. */
  readonly answerIds: readonly (string | undefined)[];
  /** Ids of the requests that this process may send. */
  readonly sentIds: ReadonlySet<string>;
}

/**
 * Commits the bytes of answers, and with or after them that requests are about to be sent. If the connection is lost,
 * the ledger decides what was committed. So each answer is stored once, and each attempt is counted and made once.
 * `mostTries` limits the retries when waiting is useless.
 */
export async function commitIdempotently(
  context: CommitContext,
  storing: readonly AnswerToStore[],
  sending: readonly RequestToSend[],
  mostTries?: number,
): Promise<CommitResult> {
  return retryTransient(
    async (failures) => {
      if (failures > 0) return exchangeRest(context, storing, sending);
      if (storing.length === 0)
        return { answerIds: [], sentIds: await recordSent(context.ops, context.lease, sending) };
      if (sending.length === 0) return { answerIds: await storeAnswers(context.ops, storing), sentIds: NONE };
      return storeAndRecordSent(context.ops, context.lease, storing, sending);
    },
    context,
    mostTries,
  );
}

const NONE: ReadonlySet<string> = new Set();

/** Commits what is missing, once the outcome of the interrupted commit is known. */
const exchangeRest = (
  { ops, lease }: CommitContext,
  storing: readonly AnswerToStore[],
  sending: readonly RequestToSend[],
): Promise<CommitResult> =>
  ops.transaction().execute(async (tx) => {
    const locked = await lockedRequests(tx, [
      ...storing.map(({ requestId }) => requestId),
      ...sending.map(({ id }) => id),
    ]);
    const known: (string | undefined)[] = [];
    for (const { requestId, answer } of storing) known.push(await storedAnswerId(tx, requestId, answer));
    const rest = await storeAnswers(
      tx,
      storing.filter((_, index) => known[index] === undefined),
    );
    // Only this attempt can have left that state: each attempt is settled before the next, and the lease excludes other
    // processes.
    const isSent = ({ id, xRequestId, at }: RequestToSend): boolean => {
      const request = locked.get(id);
      return (
        request?.state === 'sent' && request.xRequestId === xRequestId && request.sentAt?.getTime() === at.getTime()
      );
    };
    const open = sending.filter((one) => !isSent(one));
    const recorded = await recordSent(tx, lease, open);
    return {
      answerIds: known.map((id) => id ?? rest.shift()),
      sentIds: new Set([...recorded, ...sending.filter(isSent).map(({ id }) => id)]),
    };
  });

/** Records how an attempt at a sent request ended; exactly once, even if the connection is lost. */
export async function settleIdempotently(context: CommitContext, id: string, settlement: Settlement): Promise<void> {
  await retryTransient(
    async (failures) =>
      failures === 0
        ? settleRequest(context.ops, context.lease, id, settlement)
        : context.ops.transaction().execute(async (tx) => {
            const known = (await lockedRequests(tx, [id])).get(id);
            if (known?.state === 'sent') await settleRequest(tx, context.lease, id, settlement);
          }),
    context,
  );
}

/** Locks and reads requests. The lock waits for a commit that is still running. */
async function lockedRequests(ops: Ops, ids: readonly string[]) {
  const rows = await ops
    .selectFrom('requests')
    .select(['id', 'state', 'sent_at as sentAt', 'x_request_id as xRequestId'])
    .where('id', 'in', [...ids])
    // Lock rows in one global order to avoid deadlocks.
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
