/** Slices of earlier runs that are lower bounds and on which a run relies. */
import { currentLowerBounds } from '../../ledger/coverage.ts';
import { unreadInputs } from '../../ledger/failures/read-inputs.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { watermarkFields } from '../prepare/watermarks.ts';
import type { FinishedRun } from './finished-run.ts';

/**
 * Counts slices of earlier runs that are still lower bounds: for inputs that rely on those runs, or for all that may, and for
 * inputs that this run did not read completely.
 */
export async function earlierBounds(
  ops: Ops,
  { definition, run, reliedInputs }: Pick<FinishedRun, 'definition' | 'run' | 'reliedInputs'>,
): Promise<number> {
  const bounds = (await currentLowerBounds(ops, run.sync)).filter(({ runId }) => runId !== run.id);
  if (bounds.length === 0 || !reliedInputs) return bounds.length;
  const keyOf = (input: RequestBody): string => canonicalJson(watermarkFields(definition.endpoint, input));
  const open = new Set(bounds.map(({ input }) => keyOf(input)));
  // A run may have left a million inputs unread, so only those with a bound are kept.
  const counted = new Set(reliedInputs.map(keyOf).filter((key) => open.has(key)));
  for await (const inputs of unreadInputs(ops, run.id))
    for (const key of inputs.map(keyOf)) if (open.has(key)) counted.add(key);
  return bounds.filter(({ input }) => counted.has(keyOf(input))).length;
}
