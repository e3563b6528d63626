/** Requests whose answers did not arrive in earlier invocations. Each attempt may have been paid for, so there is an end to it. */
import type { SyncDefinition } from '../../config/definition.ts';
import { type FailureClass, MAX_LOST_INVOCATIONS, LOST_AGAIN_REASON } from '../../extract/retry.ts';
import { type LostInvocations, lostInvocations } from '../../ledger/lost-answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { refreshHash } from './plan-hash.ts';

/** By request key, what earlier invocations lost. */
export type LostByRequest = ReadonlyMap<string, LostInvocations>;

/** What earlier runs of this plan, of the sync as it is defined, and of its refreshes lost. */
export async function readLostByRequest(
  ops: Ops,
  definition: Pick<SyncDefinition, 'name' | 'hash'>,
  planHash: string,
): Promise<LostByRequest> {
  const hashes = [planHash, definition.hash, refreshHash(definition, {})];
  const lost = await lostInvocations(ops, definition.name, hashes);
  return new Map(lost.map((it) => [it.requestKey, it]));
}

/** Keys of the tasks that are not asked again, of those that no stored answer serves. */
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

/** Why a request is not asked again; undefined when it may be. */
export function givenUpFailure(lost: LostInvocations | undefined): GivenUpRequest | undefined {
  if (!lost || lost.invocations < MAX_LOST_INVOCATIONS) return undefined;
  return { failureClass: lost.tooLarge ? 'too_large' : 'failing', error: lost.reason, next: LOST_AGAIN_REASON };
}
