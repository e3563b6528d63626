/**
 * Plans a run and records it in the ledger, or continues a run that was interrupted. `plan-sync.ts` makes the plan in parts,
 * and `record-plan.ts` writes them.
 */
import { planSync, rereadMaxAges } from './plan-sync.ts';
import { sql } from 'kysely';
import { dayOf } from '../../day.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import { forgetLosses } from '../../ledger/failures/lost-answers.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type SpoolPlace, continueRun, createRun, newestRunId, type Run, type RunRequest } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { alsoContinued, asksForDays, planHash, type PlanOptions } from './plan-hash.ts';
import { repeatedRuns } from './plan-failed.ts';
import { type RecordedPlan, recordPlan } from './record-plan.ts';
import { assertSameRun, type ExpectedPlan } from '../saved-plan/expected-plan.ts';
import { type MissingSpools, missingSpoolError } from '../../recovery/spool/find-spools.ts';
import { type RetryEffects, retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface PreparedRun {
  readonly run: Run;
  /** Number of inputs that needed no request, see `SyncPlan`. */
  readonly covered: number;
  /** See `SyncPlan`; undefined for a continued run, whose plan was made before. */
  readonly reliedInputs: readonly RequestBody[] | undefined;
  /** See `SyncPlan`; 0 for a continued run. */
  readonly forgotten: number;
  /** See `SyncPlan`; 0 for a continued run. */
  readonly leftOut: number;
  readonly maxAgeOf: MaxAgeOf;
}

/** The inputs for preparing a run. */
export interface PrepareOptions extends RetryEffects {
  readonly options: PlanOptions;
  readonly lease: Lease;
  readonly startedAt: Date;
  /** The prices for the quote of a new run. */
  readonly prices: PriceBook;
  /** Most requests of a chunk if other workers may take part in a new run; absent, the run has no chunks. */
  readonly chunkSize?: number | undefined;
  /** Open runs of the sync with spools that cannot be found. */
  readonly missing?: readonly MissingSpools[];
  /** The spool of this process. */
  readonly ownSpool?: SpoolPlace | undefined;
  /** The saved plan that the run must have; absent, any plan is made. */
  readonly expected?: ExpectedPlan | undefined;
  /** Called with requests of abandoned runs that may have been charged without an answer. */
  readonly onLost: (requestId: string) => void;
}

/** The notice that requests were left out because they name a forgotten entity. */
export const forgottenNotice = (sync: string, count: number): Notice => ({
  level: 'info',
  sync,
  message: `requests left out because they name a forgotten entity: ${count}`,
});

/**
 * Returns the run to execute: an open one, or a new one with its complete plan in the ledger and a quote. Throws a
 * TransientError if a spool that may hold answers of the open run cannot be found, a UsageError for a plan other than
 * the expected one, and a HeldError if the lease was lost. Undefined if the signal of the options aborted before a new plan
 * was complete: then nothing of it is in the ledger.
 */
export async function prepareRun(
  warehouse: Warehouse,
  definition: SyncDefinition,
  prepare: PrepareOptions,
): Promise<PreparedRun | undefined> {
  const { options, lease, startedAt: now, missing = [], expected, onLost, ...retry } = prepare;
  const request = {
    sync: definition.name,
    endpoint: definition.endpoint.name,
    definitionHash: planHash(definition, options),
    asksForDays: asksForDays(definition),
    scope: scopeOf(options),
    tags: definition.tags,
    holder: lease.holder,
    now,
  };
  const database = operationsOf(warehouse);
  const otherHashes = alsoContinued(definition, options);
  if (options.failed) await retryTransient(() => repeatedRuns(database, definition, options), retry);
  // Kept across retries of the commit: a repeated attempt finds nothing left to abandon.
  const lost = new Set<string>();
  const { run: open, covered: coveredBefore } = await retryTransaction(
    database,
    async (ops) => {
      await assertLease(ops, lease);
      const found = await continueRun(ops, request, otherHashes, (runId) => {
        const held = missing.find((it) => it.runId === runId);
        if (held) throw missingSpoolError(definition.name, held);
      });
      if (expected) assertSameRun(expected, found.run?.id, await newestRunId(ops, definition.name));
      for (const id of found.lost) lost.add(id);
      return found;
    },
    retry,
  );
  lost.forEach(onLost);
  if (open) {
    const maxAgeOf = await retryTransient(() => rereadMaxAges(warehouse, definition, open, options), retry);
    return { run: open, covered: coveredBefore, reliedInputs: undefined, forgotten: 0, leftOut: 0, maxAgeOf };
  }
  try {
    return await planNewRun(warehouse, definition, request, prepare);
  } catch (error) {
    if (options.signal?.aborted !== true || error !== options.signal.reason) throw error;
    await retryTransient(() => assertLease(database, lease), retry);
    return undefined;
  }
}

/** Records a new run with its complete plan. Throws the reason of the signal if that aborts before the plan is complete. */
async function planNewRun(
  warehouse: Warehouse,
  definition: SyncDefinition,
  request: RunRequest,
  { options, lease, startedAt: now, prices, chunkSize, ownSpool, expected, ...retry }: PrepareOptions,
): Promise<PreparedRun> {
  const planned = { ...options, horizon: expected?.horizon };
  const plan = await retryTransient(() => planSync(warehouse, definition, planned, now), retry);
  // A walk sends one request at a time.
  const isWalk = definition.endpoint.paging.by === 'cursor';
  const isAlone = isWalk || definition.inFlight !== undefined;
  const { limit } = options;
  const recording = { definition, plan, prices, now, limit, chunkSize: isAlone ? undefined : chunkSize, expected };
  const spools = ownSpool ? [ownSpool] : [];
  // A commit with a lost connection may have succeeded, so this outlives the attempt.
  let recorded: RecordedPlan | undefined;
  const run = await retryTransaction(
    operationsOf(warehouse),
    async (ops, failures) => {
      const begun = failures === 0 ? undefined : await runBegun(ops, request);
      if (begun) return begun;
      const created = await createRun(ops, { ...request, spools });
      if (options.refresh || options.failed) await forgetLosses(ops, definition.name);
      recorded = await recordPlan(ops, created, recording);
      // Last: if this process is suspended while it plans, a takeover does not wait for it.
      await assertLease(ops, lease);
      return created;
    },
    retry,
  );
  const { quote = null, covered = 0, reliedInputs = [], forgotten = 0, leftOut = 0 } = recorded ?? {};
  return { run: { ...run, quote }, covered, reliedInputs, forgotten, leftOut, maxAgeOf: plan.maxAgeOf };
}

/** The part of the sync that a run with these options requests; undefined if it requests all of it. */
function scopeOf({ failed, limit, from, to }: PlanOptions): RunRequest['scope'] {
  if (limit !== undefined) return 'limited';
  if (failed === true) return 'failed';
  return from !== undefined || to !== undefined ? 'range' : undefined;
}

/** Finds the run that this holder created by a commit with a lost connection. */
async function runBegun(
  ops: Ops,
  { sync, endpoint, definitionHash, holder, now }: RunRequest,
): Promise<Omit<Run, 'quote'> | undefined> {
  const begun = await ops
    .selectFrom('runs')
    .select('id')
    .where('sync', '=', sync)
    .where('holder', '=', holder)
    .where('started_at', '=', sql<Date>`${now.toISOString()}::timestamptz`)
    .executeTakeFirst();
  const startedAt = now.toISOString();
  if (!begun) return undefined;
  return { id: begun.id, definitionHash, sync, endpoint, today: dayOf(now), startedAt, continued: false };
}
