/**
 * Requests whose answers did not arrive in earlier invocations. Each attempt may have been charged, so the attempts are
 * limited.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { type FailureClass, MAX_LOST_INVOCATIONS, LOST_AGAIN_REASON } from '../../extract/retry.ts';
import { type LostInvocations, lostInvocations } from '../../ledger/failures/lost-answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { refreshHash } from './plan-hash.ts';

/** What earlier invocations lost, by request key. */
export type LostByRequest = ReadonlyMap<string, LostInvocations>;

/** Reads the losses of earlier runs of this plan, of the sync's plain plan, and of its refreshes. */
export async function readLostByRequest(
  ops: Ops,
  definition: Pick<SyncDefinition, 'name' | 'hash'>,
  planHash: string,
): Promise<LostByRequest> {
  const hashes = [planHash, definition.hash, refreshHash(definition, {})];
  const lost = await lostInvocations(ops, definition.name, hashes);
  return new Map(lost.map((it) => [it.requestKey, it]));
}

/** Returns the keys of tasks that are not sent again, among those without a stored answer. */
export const givenUpRequests = (
  tasks: readonly { readonly requestKey: string }[],
  lost: LostByRequest,
  fresh: ReadonlyMap<string, unknown>,
): ReadonlySet<string> =>
  new Set(
    tasks.flatMap(({ requestKey }) =>
      !fresh.has(requestKey) && givenUpFailure(lost.get(requestKey)) ? [requestKey] : [],
    ),
  );

export interface GivenUpRequest {
  readonly failureClass: FailureClass;
  readonly error: string;
  readonly next: string;
}

/** Returns why a request is not sent again; undefined if it may be. */
export function givenUpFailure(lost: LostInvocations | undefined): GivenUpRequest | undefined {
  if (!lost || lost.invocations < MAX_LOST_INVOCATIONS) return undefined;
  return { failureClass: lost.tooLarge ? 'too_large' : 'failing', error: lost.reason, next: LOST_AGAIN_REASON };
}
