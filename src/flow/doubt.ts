/** Requests that were sent and whose answers never arrived: they may have been paid for. */
import type { SyncDefinition } from '../config/definition.ts';
import { moveAll } from '../ops/ledger.ts';
import type { Ops } from '../ops/schema.ts';
import type { Run } from '../ops/runs.ts';
import type { Notice } from '../ops/summary.ts';

/** What is told of one lost answer. */
export const doubtNotice = (sync: string, because: string, again: boolean): Notice => ({
  level: 'warn',
  sync,
  message: again
    ? `an answer was lost (${because}); it is asked again and may be paid twice`
    : `an answer was lost (${because}); the request stays in doubt`,
});

/** What is told of a request that was under way when a run died which is not continued. */
export const lostNotice = (sync: string, id: string): Notice => ({
  level: 'warn',
  sync,
  message: `request ${id} of a run that was given up had no answer yet; it may have been paid for`,
});

/**
 * Settles what a holder that died left under way, by the sync's policy: `reconcile` asks again, `stop` leaves it listed.
 * Each case is told.
 */
export async function settleDoubts(
  ops: Ops,
  definition: SyncDefinition,
  run: Run,
  effects: { readonly onNotice: (notice: Notice) => void },
): Promise<void> {
  await moveAll(ops, run.id, ['sent'], 'in_doubt');
  const again = definition.inDoubt === 'reconcile';
  const listed = await ops
    .selectFrom('requests')
    .select('id')
    .where('run_id', '=', run.id)
    .where('state', '=', 'in_doubt')
    .orderBy('id')
    .execute();
  for (const { id } of listed)
    effects.onNotice(doubtNotice(definition.name, `request ${id} was under way when its run died`, again));
  if (again) await moveAll(ops, run.id, ['in_doubt'], 'planned');
}
