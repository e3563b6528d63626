/** Slices of earlier runs that are lower bounds and on which a run relies. */
import { currentLowerBounds } from '../../ledger/coverage.ts';
import { unreadInputs } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { FinishedRun } from './finished-run.ts';

/**
 * Counts slices of earlier runs that are still lower bounds: for inputs that rely on those runs, or for all that may, and for
 * inputs that this run did not read completely.
 */
export async function earlierBounds(
  ops: Ops,
  { run, reliedInputs }: Pick<FinishedRun, 'run' | 'reliedInputs'>,
): Promise<number> {
  const inputs =
    reliedInputs && new Set([...reliedInputs, ...(await unreadInputs(ops, run.id))].map((it) => canonicalJson(it)));
  const bounds = inputs?.size === 0 ? [] : await currentLowerBounds(ops, run.sync);
  return bounds.filter(({ runId, input }) => runId !== run.id && inputs?.has(canonicalJson(input)) !== false).length;
}
