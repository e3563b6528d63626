/** The plan of `sync --failed`: the requests of the last run that got no usable answer, and nothing else. */
import type { SyncDefinition } from '../../config/definition.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import { UsageError } from '../../errors.ts';
import { failedRequests } from '../../ledger/failures/failed-requests.ts';
import { lastRunOf, OPEN_STATES } from '../../ledger/runs.ts';
import { asksForForgotten } from '../../normalize/erasure/redact-request.ts';
import type { Inputs } from '../../plan/inputs.ts';
import { KeySet } from '../../plan/key-set.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { readForgotten } from '../erasure/store.ts';
import { planHash, type PlanOptions, repeatedHashes } from './plan-hash.ts';
import type { PartContext, PlanPart } from './plan-part.ts';

/**
 * Returns the id of the run whose failed requests are repeated; undefined if there is none. Throws a UsageError if the
 * last run is open, or if it had another config or range. Call it before an open run is given up.
 */
export async function repeatedRun(
  ops: Ops,
  definition: Pick<SyncDefinition, 'name' | 'hash'>,
  options: PlanOptions,
): Promise<string | undefined> {
  const last = await lastRunOf(ops, definition.name);
  if (!last) return undefined;
  const { name } = definition;
  if (!repeatedHashes(definition, options).includes(last.definitionHash))
    throw new UsageError(`--failed: the last run of ${name}, ${last.id}, had another config, --from or --to`, {
      next: `Its failed requests may no longer be wanted. Run sluice sync ${name}.`,
    });
  if (OPEN_STATES.includes(last.state) && last.definitionHash !== planHash(definition, options))
    throw new UsageError(`--failed: the last run of ${name}, ${last.id}, is not finished`, {
      next: `Run sluice sync ${name} first, which continues it.`,
    });
  return last.id;
}

/** Plans the failed requests of `failedRun` whose inputs the sync still has. */
export async function* failedParts(
  ops: Ops,
  definition: SyncDefinition,
  inputs: Inputs,
  { failedRun, maxAgeOf, now, options }: PartContext,
): AsyncGenerator<PlanPart> {
  if (failedRun === undefined) return;
  const wanted = new KeySet();
  for await (const block of inputs.blocks()) for (const { fields } of block) wanted.add(keyOf(fields));
  const forgottenNames = await readForgotten(ops);
  for await (const rows of failedRequests(ops, failedRun)) {
    const failed = rows.filter(({ input }) => wanted.has(keyOf(input)));
    const tasks = failed.filter(
      ({ request }) => forgottenNames === undefined || !asksForForgotten(definition.endpoint, request, forgottenNames),
    );
    const { fresh } = await freshFor(ops, definition.endpoint, tasks, { maxAgeOf, now, invokedAt: options.invokedAt });
    const forgotten = failed.length - tasks.length;
    // Requests that no other run would send again, because their answers were lost or unreadable, are sent too.
    yield { tasks, fresh, givenUp: new Set(), failing: new Map(), covered: 0, reliedInputs: [], forgotten, maxAgeOf };
  }
}

const keyOf = (input: RequestBody): string => digestOf(canonicalJson(input));
