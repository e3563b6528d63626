/** Decides which syncs of an invocation are not started because a parent did not finish; pure. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import { queriesOf } from '../queries/check-queries.ts';

/**
 * Exit codes of runs that loaded what they could get. A budget may be meant to spread a sync over many days, so it does
 * not keep its children waiting.
 */
const FINISHED: readonly number[] = [EXIT.complete, EXIT.rejects, EXIT.budget];

/**
 * Returns the sync of this invocation that did not finish and whose rows a query of `definition` may read: a parent, or a
 * parent of one. The plan of a run is frozen, so a plan from incomplete rows would leave out the others, and buy what
 * a complete one does not name. `ordered` holds the syncs of the invocation, parents first.
 */
export function unfinishedParent(
  definition: SyncDefinition,
  ordered: readonly SyncDefinition[],
  ended: readonly SyncSummary[],
): SyncSummary | undefined {
  if (queriesOf(definition).length === 0) return undefined;
  const unfinished = new Map(
    ended.flatMap((summary) => (FINISHED.includes(summary.exitCode) ? [] : [[summary.sync, summary] as const])),
  );
  const causeOf = ({ after }: SyncDefinition): SyncSummary | undefined =>
    after.map((parent) => unfinished.get(parent)).find((cause) => cause !== undefined);
  for (const sync of ordered) {
    const cause = causeOf(sync);
    if (cause && !unfinished.has(sync.name)) unfinished.set(sync.name, cause);
  }
  return causeOf(definition);
}
