/** Slices of earlier runs that are lower bounds and on which a run relies. */
import { currentLowerBounds } from '../../ledger/coverage.ts';
import { unreadInputs } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { watermarkFields } from '../prepare/watermark-name.ts';
import type { FinishedRun } from './finished-run.ts';

/**
 * Counts slices of earlier runs that are still lower bounds: for inputs that rely on those runs, or for all that may, and for
 * inputs that this run did not read completely.
 */
export async function earlierBounds(
  ops: Ops,
  { definition, run, reliedInputs }: Pick<FinishedRun, 'definition' | 'run' | 'reliedInputs'>,
): Promise<number> {
  const keyOf = (input: RequestBody): string => canonicalJson(watermarkFields(definition.endpoint, input));
  const inputs = reliedInputs && new Set([...reliedInputs, ...(await unreadInputs(ops, run.id))].map(keyOf));
  const bounds = inputs?.size === 0 ? [] : await currentLowerBounds(ops, run.sync);
  return bounds.filter(({ runId, input }) => runId !== run.id && inputs?.has(keyOf(input)) !== false).length;
}
