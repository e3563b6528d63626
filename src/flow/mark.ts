/** Moves requests in the ledger though connections get lost: what a commit without an answer came to is read back. */
import type { Lease } from '../ops/lease.ts';
import { markSent, type Sending, settle, type Settlement } from '../ops/ledger.ts';
import type { Ops } from '../ops/schema.ts';
import { storeAnswers, storedAs, type Storing } from '../ops/vault.ts';
import { type Steady, steadily } from './steady.ts';

export interface Marking extends Steady {
  readonly ops: Ops;
  readonly lease: Lease;
}

/**
 * Commits that these requests are about to be sent; returns the ids of those that are ours to send. When the connection
 * is lost on the way, what the ledger says decides, so that an attempt is counted once and made once.
 */
export async function markSentSurely(it: Marking, sending: readonly Sending[]): Promise<ReadonlySet<string>> {
  return steadily(
    async (failures) =>
      failures === 0
        ? markSent(it.ops, it.lease, sending)
        : it.ops.transaction().execute(async (tx) => {
            const locked = await lockedRequests(
              tx,
              sending.map(({ id }) => id),
            );
            // No other attempt can have left it so: each is settled before the next, and the lease keeps others away.
            const isMarked = ({ id, requestId, at }: Sending): boolean => {
              const known = locked.get(id);
              return (
                known?.state === 'sent' && known.xRequestId === requestId && known.sentAt?.getTime() === at.getTime()
              );
            };
            const open = sending.filter((one) => !isMarked(one));
            const marked = await markSent(tx, it.lease, open);
            return new Set([...marked, ...sending.filter(isMarked).map(({ id }) => id)]);
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
            const known = (await lockedRequests(tx, [id])).get(id);
            if (known?.state === 'sent') await settle(tx, id, settlement);
          }),
    it,
  );
}

/**
 * Commits the bytes of answers and returns their ids in the same order, undefined for a request that the ledger does not
 * have; each is stored once, however often the connection is lost. `mostTries` is for when there is no use in waiting.
 */
export async function storeSurely(
  it: Omit<Marking, 'lease'>,
  storing: readonly Storing[],
  mostTries?: number,
): Promise<(string | undefined)[]> {
  return steadily(
    async (failures) =>
      failures === 0
        ? storeAnswers(it.ops, storing)
        : it.ops.transaction().execute(async (tx) => {
            await lockedRequests(
              tx,
              storing.map(({ requestId }) => requestId),
            );
            const known: (string | undefined)[] = [];
            for (const { requestId, answer } of storing) known.push(await storedAs(tx, requestId, answer));
            const rest = await storeAnswers(
              tx,
              storing.filter((_, place) => known[place] === undefined),
            );
            return known.map((id) => id ?? rest.shift());
          }),
    it,
    mostTries,
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
