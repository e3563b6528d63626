/** The plan of `sync --failed`: the requests of the last runs that got no usable answer, and nothing else. */
import type { SyncDefinition } from '../../config/definition.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import { UsageError } from '../../errors.ts';
import { requestsWithoutUsableAnswer } from '../../ledger/failures/requests-without-usable-answer.ts';
import { runsToRetry } from '../../ledger/failures/runs-to-retry.ts';
import { lastRunOf, OPEN_STATES } from '../../ledger/runs.ts';
import { mentionsForgotten } from '../../normalize/erasure/redact-request.ts';
import type { Inputs } from '../../plan/inputs.ts';
import { KeySet } from '../../plan/key-set.ts';
import type { Task } from '../../plan/task.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import { asksForPseudonym } from '../../service/names/forgotten.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { readForgotten } from '../erasure/store.ts';
import { planHash, type PlanOptions, repeatedHashes } from './plan-hash.ts';
import type { PartContext, PlanPart } from './plan-part.ts';

/**
 * Returns the ids of the runs whose failed requests are repeated: the newest run with all inputs of these options, and the
 * runs of failed requests since, newest first. Throws a UsageError if the newest is open, or if there are only runs with
 * another config, range or limit. Call it before an open run is given up.
 */
export async function repeatedRuns(
  ops: Ops,
  definition: Pick<SyncDefinition, 'name' | 'hash'>,
  options: PlanOptions,
): Promise<readonly string[]> {
  const { name } = definition;
  const hashes = repeatedHashes(definition, options);
  const runs = await runsToRetry(ops, name, hashes);
  const last = runs[0] ?? (await lastRunOf(ops, name));
  if (!last) return [];
  const other = [last, ...runs].find(({ definitionHash }) => !hashes.includes(definitionHash));
  if (other)
    throw new UsageError(
      `--failed: the last run of ${name}, ${other.id}, had another config, --from, --to or --limit`,
      {
        next: `Its failed requests may no longer be wanted. Run sluice sync ${name}.`,
      },
    );
  if (OPEN_STATES.includes(last.state) && last.definitionHash !== planHash(definition, options))
    throw new UsageError(`--failed: the last run of ${name}, ${last.id}, is not finished`, {
      next: `Run sluice sync ${name} first, which continues it.`,
    });
  return runs.map(({ id }) => id);
}

/** Plans the failed requests of `failedRuns` whose inputs the sync still has, each once. */
export async function* failedParts(
  ops: Ops,
  definition: SyncDefinition,
  inputs: Inputs,
  { failedRuns = [], maxAgeOf, now, options }: PartContext,
): AsyncGenerator<PlanPart> {
  if (failedRuns.length === 0) return;
  const wanted = new KeySet();
  for await (const block of inputs.blocks()) for (const { fields } of block) wanted.add(keyOf(fields));
  const forgottenNames = await readForgotten(ops);
  const seen = new KeySet();
  for await (const rows of failedOf(ops, failedRuns)) {
    const failed = rows.filter(({ input, requestKey }) => wanted.has(keyOf(input)) && seen.add(requestKey));
    const tasks = failed.filter(
      ({ request }) =>
        // The ledger has a pseudonym in place of a name that the config gives outside of the inputs.
        !asksForPseudonym(request) &&
        (forgottenNames === undefined || !mentionsForgotten(definition.endpoint, request, forgottenNames)),
    );
    const { fresh } = await freshFor(ops, definition.endpoint, tasks, { maxAgeOf, now, invokedAt: options.invokedAt });
    const forgotten = failed.length - tasks.length;
    // Requests that no other run would send again, because their answers were lost or unreadable, are sent too.
    yield { tasks, fresh, givenUp: new Set(), failing: new Map(), covered: [], reliedInputs: [], forgotten, maxAgeOf };
  }
}

async function* failedOf(ops: Ops, runIds: readonly string[]): AsyncGenerator<readonly Task[]> {
  for (const runId of runIds) yield* requestsWithoutUsableAnswer(ops, runId);
}

const keyOf = (input: RequestBody): string => digestOf(canonicalJson(input));
