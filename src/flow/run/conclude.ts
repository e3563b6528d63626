/** Concludes a run: moves its watermarks, records its end and its counts, and computes its summary. */
import { lowerBoundsOf } from '../../ledger/coverage.ts';
import { recordFullAnswersWithFailedParts } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { lostAnswersOf } from '../../ledger/failures/lost-answers.ts';
import { type EarlierPoints, pointsSentSince, unverifiedPoints } from '../../ledger/log-costs.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readRunCounters, readReliedItems } from '../../ledger/run-counters.ts';
import { endRun } from '../../ledger/runs.ts';
import { resolveReplaced } from '../../ledger/quarantine.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import { gapsOf, recordUnsentSlices, unreadableSum } from '../../ledger/failures/unreadable-answers.ts';
import { runChecks } from '../checks/run-checks.ts';
import { removeReadGaps, walkGapsText } from '../../ledger/failures/walk-gaps.ts';
import type { CheckResult } from '../../ledger/checks/check-results.ts';
import { earlierBounds } from './earlier-bounds.ts';
import type { FinishedRun } from './finished-run.ts';
import { recordFormerSlices } from '../split/former-slices.ts';
import { withoutLeftOutParts } from '../split/left-out-parts.ts';
import type { Invocation } from './invocation.ts';
import type { OpenedRun } from './open-run.ts';
import { reconcileRun } from './reconciler.ts';
import { endOf, limitSummary, skipBeyondLimit } from './run-end.ts';
import type { SyncRun } from './sync-run.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { deletedNotice, deletedRows } from '../replay/deleted-rows.ts';
import { isPartOfSync } from '../prepare/plan-hash.ts';
import { moveWatermarks, removeReadSlices } from './move-watermarks.ts';
import type { MissingSpools } from '../../recovery/spool/find-spools.ts';

export interface ConcludeInput extends FinishedRun, EarlierPoints {
  /** Requests of runs that this run gave up, whose answers were lost. */
  readonly lost: readonly string[];
  /** Spools that cannot be found and may hold answers to requests of the run. */
  readonly missing?: MissingSpools | undefined;
  /** A limit in points is set, so the summary reports what the request log has not confirmed. */
  readonly isLimited: boolean;
  readonly checks: readonly CheckResult[];
}

/** Records the end of a run and returns its summary. */
export async function concludeRun(
  ops: Ops,
  { warehouse, effects }: Pick<Invocation, 'warehouse' | 'effects'>,
  input: ConcludeInput,
): Promise<SyncSummary> {
  const watermarks = { ...input, schema: warehouse.schema, now: effects.now };
  if (!input.isPart) await moveWatermarks(ops, watermarks);
  else if (input.isOfFailed) await removeReadSlices(ops, watermarks);
  const { paging } = input.definition.endpoint;
  const skipped = await skipBeyondLimit(ops, input);
  const unread = await unreadableSum(ops, input.run.id);
  if (paging.by !== 'once' && unread.failing > 0) await recordUnsentSlices(ops, input.run.id);
  await recordFullAnswersWithFailedParts(ops, input.run, withoutLeftOutParts(ops, input, effects.now()));
  await recordFormerSlices(ops, input);
  await resolveReplaced(ops, [input.run.sync], effects.now());
  const counters = await readRunCounters(ops, input.run.id);
  const totals = {
    ...counters,
    // The ledger has no requests for the days that stored answers cover.
    planned: counters.planned + input.covered,
    fresh: counters.fresh + input.covered,
    unreadable: unread.requests,
  };
  const stored = await readReliedItems(ops, input.run.id);
  const relied = { ...stored, all: stored.all + input.covered };
  const gaps = unread.requests === 0 ? [] : await gapsOf(ops, [input.run.id], SHOWN_BOUNDS);
  // If any input may rely on earlier runs, only a strict run counts: most runs of such syncs request everything again.
  const mayCount = input.reliedInputs !== undefined || input.failOnTruncated === true;
  const earlier = mayCount ? await earlierBounds(ops, input) : 0;
  const walkGaps = paging.by === 'cursor' ? await walkGapsText(ops, input.run.id) : undefined;
  const end = endOf(input, { totals, unread, relied, gaps, walkGaps, earlier, skipped });
  if (paging.by === 'cursor' && end.state === 'complete') await removeReadGaps(ops, input.run.sync, input.run.id);
  const at = effects.now();
  await endRun(ops, input.run.id, { ...end, at }, totals);
  const ledger = { db: ops, ops: warehouse.ops };
  return {
    sync: input.definition.name,
    endpoint: input.definition.endpoint.name,
    runId: input.run.id,
    continued: input.run.continued,
    ...totals,
    ...end,
    ...(input.run.continued && { pointsNow: await pointsSentSince(ledger, input.run.id, input) }),
    ...(input.isLimited && { unverified: await unverifiedPoints(ledger, { runId: input.run.id }) }),
    ...(earlier > 0 && { earlierTruncated: earlier }),
    ...limitSummary(input.limit, skipped),
    quote: input.run.quote,
    checks: input.checks,
    lostAnswers: await lostAnswersOf(ops, input.run.id, input.lost),
    lowerBounds: await lowerBoundsOf(ops, input.run.id, SHOWN_BOUNDS),
    gaps: gaps.map(({ filters, input, answerId, reason, failing }) => ({ filters, input, answerId, reason, failing })),
    tookMs: Math.max(0, at.getTime() - input.startedAt.getTime()),
  };
}

const SHOWN_BOUNDS = 20;

export interface RunOutcome extends Pick<FinishedRun, 'stop' | 'aborted'> {
  readonly lease: Lease;
  readonly missing: readonly MissingSpools[];
  /** Stops checks that take long. */
  readonly signal: AbortSignal;
}

/**
 * Runs the checks, records the end of the run, and returns its summary. Then matches the ledger with a request log that was read, and
 * warns of rows that were deleted while their answers are fresh.
 */
export async function concludeOpenRun(
  invocation: Invocation,
  { definition, options }: SyncRun,
  { run, covered, reliedInputs, lost, leftOut, segment, startedAt, pointsBefore }: OpenedRun,
  { lease, stop, missing, aborted, signal }: RunOutcome,
): Promise<SyncSummary> {
  const { warehouse, effects } = invocation;
  const ops = operationsOf(warehouse);
  const ended = {
    definition,
    run,
    covered,
    reliedInputs,
    stop,
    aborted,
    isPart: isPartOfSync(options),
    isOfFailed: options.failed === true && !isPartOfSync({ ...options, failed: false }),
    failOnTruncated: options.failOnTruncated,
    limit: options.limit === undefined ? undefined : { requests: options.limit, leftOut },
  };
  // Before the end of the run, so that a run which was not checked is never concluded.
  const checks = await runChecks(invocation, { ...ended, lease, signal });
  const summary = await retryTransient(async () => {
    // Another process that took over this run will conclude it.
    await assertLease(ops, lease);
    return concludeRun(ops, invocation, {
      ...ended,
      checks,
      lost,
      startedAt,
      pointsBefore,
      isLimited: segment.isLimited,
      missing: missing.find(({ runId }) => runId === run.id),
    });
  }, effects);
  if (definition.endpoint.paging.by === 'cursor') await reconcileRun(warehouse, run, effects);
  else if (summary.fresh > covered)
    for (const deleted of await retryTransient(() => deletedRows(warehouse, run.id), effects))
      effects.onNotice(deletedNotice(deleted));
  return summary;
}
