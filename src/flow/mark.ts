/** Moves a request in the ledger though connections get lost: what a commit without an answer came to is read back. */
import type { Lease } from '../ops/lease.ts';
import { type LedgerRequest, markSent, settle, type Settlement } from '../ops/ledger.ts';
import type { Ops } from '../ops/schema.ts';
import { storeAnswer, type StoredBytes, storedAs } from '../ops/vault.ts';
import { type Steady, steadily } from './steady.ts';

export interface Marking extends Steady {
  readonly ops: Ops;
  readonly lease: Lease;
}

/**
 * Commits that the request is about to be sent; false when it is not ours to send. When the connection is lost on the
 * way, what the ledger says decides, so that an attempt is counted once and made once.
 */
export async function markSentSurely(
  it: Marking,
  request: Pick<LedgerRequest, 'id'>,
  attempt: Parameters<typeof markSent>[3],
): Promise<boolean> {
  return steadily(
    async (failures) =>
      failures === 0
        ? markSent(it.ops, it.lease, request.id, attempt)
        : it.ops.transaction().execute(async (tx) => {
            const { state, sentAt, xRequestId } = await lockedRequest(tx, request.id);
            // No other attempt can have left it so: each is settled before the next, and the lease keeps others away.
            const isMarked =
              state === 'sent' && xRequestId === attempt.requestId && sentAt?.getTime() === attempt.at.getTime();
            return isMarked || markSent(tx, it.lease, request.id, attempt);
          }),
    it,
  );
}

/** Records how an attempt at a sent request ended; recorded once, however often the connection is lost. */
export async function settleSurely(it: Omit<Marking, 'lease'>, id: string, settlement: Settlement): Promise<void> {
  await steadily(
    async (failures) =>
      failures === 0
        ? settle(it.ops, id, settlement)
        : it.ops.transaction().execute(async (tx) => {
            const { state } = await lockedRequest(tx, id);
            if (state === 'sent') await settle(tx, id, settlement);
          }),
    it,
  );
}

/**
 * Commits the answer's bytes and returns its id; stored once, however often the connection is lost. `mostTries` is for
 * when there is no use in waiting.
 */
export async function storeSurely(
  it: Omit<Marking, 'lease'>,
  requestId: string,
  answer: StoredBytes,
  mostTries?: number,
): Promise<string> {
  return steadily(
    async (failures) =>
      failures === 0
        ? storeAnswer(it.ops, requestId, answer)
        : it.ops.transaction().execute(async (tx) => {
            await lockedRequest(tx, requestId);
            return (await storedAs(tx, requestId, answer)) ?? (await storeAnswer(tx, requestId, answer));
          }),
    it,
    mostTries,
  );
}

/** The request as it stands once nobody else is changing it: a commit that is still under way is waited for. */
async function lockedRequest(ops: Ops, id: string) {
  return ops
    .selectFrom('requests')
    .select(['state', 'sent_at as sentAt', 'x_request_id as xRequestId'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}
