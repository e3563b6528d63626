/** The freshness windows of the requests of shared runs, for the workers that execute their chunks. */
import { memoizeByObject } from '../../async/memoize.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { Run } from '../../ledger/runs.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { Invocation } from '../run/invocation.ts';
import { rereadMaxAges } from './plan-sync.ts';

interface KnownAges {
  readonly runId: string;
  readonly ages: Promise<MaxAgeOf>;
}

/** The ages of the last run of each sync, since they may be of a million inputs. */
const knownAges = memoizeByObject<Invocation, Map<string, KnownAges>>(() => new Map());

/** Returns the ages of a run. A process reads the inputs of a run once, not for each of its chunks. */
export function agesOfSharedRun(
  invocation: Invocation,
  definition: SyncDefinition,
  run: Pick<Run, 'id' | 'definitionHash'>,
): Promise<MaxAgeOf> {
  const known = knownAges(invocation);
  const found = known.get(definition.name);
  if (found?.runId === run.id) return found.ages;
  const { warehouse, effects } = invocation;
  const ages = retryTransient(() => rereadMaxAges(warehouse, definition, run), effects);
  known.set(definition.name, { runId: run.id, ages });
  ages.catch(() => known.delete(definition.name));
  return ages;
}
