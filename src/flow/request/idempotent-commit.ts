/** Moves requests in the ledger though connections get lost: what a commit without an answer came to is read back. */
import type { Lease } from '../../ledger/lease.ts';
import {
  markSent,
  type RequestToSend,
  storeAndMarkSent,
  storeAnswers,
  type AnswerToStore,
} from '../../ledger/store-and-mark-sent.ts';
import { settleRequest, type Settlement } from '../../ledger/requests.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { storedAnswerId } from '../../ledger/answers.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface CommitContext extends RetryEffects {
  readonly ops: Ops;
  readonly lease: Lease;
}

/** What was committed. */
export interface CommitResult {
  /** Ids of the answers, in their order; undefined for a request that the ledger does not have. */
  readonly answerIds: readonly (string | undefined)[];
  /** Ids of the requests that are ours to send. */
  readonly sentIds: ReadonlySet<string>;
}

/**
 * Commits the bytes of answers, and with them or after them that requests are about to be sent. When the connection is
 * lost on the way, what the ledger says decides, so that each answer is stored once, and an attempt counted once and made
 * once. `mostTries` is for when there is no use in waiting.
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
      if (storing.length === 0) return { answerIds: [], sentIds: await markSent(context.ops, context.lease, sending) };
      if (sending.length === 0) return { answerIds: await storeAnswers(context.ops, storing), sentIds: NONE };
      return storeAndMarkSent(context.ops, context.lease, storing, sending);
    },
    context,
    mostTries,
  );
}

const NONE: ReadonlySet<string> = new Set();

/** Stores and marks what is not, once it is sure how the commit ended that was cut off. */
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
      storing.filter((_, place) => known[place] === undefined),
    );
    // No other attempt can have left it so: each is settled before the next, and the lease keeps others away.
    const isMarked = ({ id, requestId, at }: RequestToSend): boolean => {
      const request = locked.get(id);
      return (
        request?.state === 'sent' && request.xRequestId === requestId && request.sentAt?.getTime() === at.getTime()
      );
    };
    const open = sending.filter((one) => !isMarked(one));
    const marked = await markSent(tx, lease, open);
    return {
      answerIds: known.map((id) => id ?? rest.shift()),
      sentIds: new Set([...marked, ...sending.filter(isMarked).map(({ id }) => id)]),
    };
  });

/** Records how an attempt at a sent request ended; recorded once, however often the connection is lost. */
export async function settleIdempotently(
  context: Omit<CommitContext, 'lease'>,
  id: string,
  settlement: Settlement,
): Promise<void> {
  await retryTransient(
    async (failures) =>
      failures === 0
        ? settleRequest(context.ops, id, settlement)
        : context.ops.transaction().execute(async (tx) => {
            const known = (await lockedRequests(tx, [id])).get(id);
            if (known?.state === 'sent') await settleRequest(tx, id, settlement);
          }),
    context,
  );
}

/** Requests as they stand once nobody else is changing them: a commit that is still under way is waited for. */
async function lockedRequests(ops: Ops, ids: readonly string[]) {
  const rows = await ops
    .selectFrom('requests')
    .select(['id', 'state', 'sent_at as sentAt', 'x_request_id as xRequestId'])
    .where('id', 'in', [...ids])
    // Whoever waits for a row while holding others takes them in the same order.
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
