/** Ends a run: moves its watermarks, computes its summary, and suggests the next step. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import { lowerBoundsOf } from '../../ledger/coverage.ts';
import { markFullAnswersWithFailedParts } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { lostAnswersOf } from '../../ledger/failures/lost-answers.ts';
import { filtersText } from '../../text/filters.ts';
import { pointsSentSince, unverifiedPoints } from '../../ledger/log-costs.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { endRun, readRunCounters } from '../../ledger/runs.ts';
import type { RunCounters } from '../../ledger/run-counters.ts';
import type { Gap, RunState, SyncSummary } from '../../ledger/summary.ts';
import {
  gapsOf,
  MAX_UNREADABLE,
  recordUnsentSlices,
  type UnreadableSum,
  unreadableSum,
} from '../../ledger/failures/unreadable-answers.ts';
import { failedChecksText } from '../checks/failed-checks.ts';
import { runChecks } from '../checks/run-checks.ts';
import { removeReadGaps, walkGapsText } from '../../ledger/failures/walk-gaps.ts';
import type { CheckResult } from '../../ledger/checks/check-results.ts';
import { earlierBounds } from './earlier-bounds.ts';
import type { FinishedRun } from './finished-run.ts';
import type { Invocation } from './invocation.ts';
import type { OpenedRun } from './open-run.ts';
import { reconcileRun } from './reconciler.ts';
import type { RunStop } from './stop-controller.ts';
import type { SyncRun } from './sync-run.ts';
import { limitedEnd, limitSummary, skipBeyondLimit } from './limited-run.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { deletedNotice, deletedRows } from '../replay/deleted-rows.ts';
import { isPartOfSync } from '../prepare/plan-hash.ts';
import { moveWatermarks } from './move-watermarks.ts';
import { type MissingSpools, missingSpoolError } from '../../recovery/spool/find-spools.ts';

export interface ConcludeInput extends FinishedRun {
  readonly aborted?: boolean;
  readonly failOnTruncated?: boolean;
  readonly startedAt: Date;
  /** Requests of runs that this run gave up, whose answers were lost. */
  readonly lost: readonly string[];
  /** Spools that cannot be found and may hold answers to requests of the run. */
  readonly missing?: MissingSpools | undefined;
  /** The points of requests that earlier invocations sent, by id. */
  readonly pointsBefore: ReadonlyMap<string, number>;
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
  if (!input.isPart) await moveWatermarks(ops, { ...input, schema: warehouse.schema, now: effects.now });
  const { paging } = input.definition.endpoint;
  const skipped = await skipBeyondLimit(ops, input);
  const unread = await unreadableSum(ops, input.run.id);
  if (paging.by !== 'once' && unread.failing > 0) await recordUnsentSlices(ops, input.run.id);
  await markFullAnswersWithFailedParts(ops, input.run);
  const totals = { ...(await readRunCounters(ops, input.run.id)), unreadable: unread.requests };
  const gaps = unread.requests === 0 ? [] : await gapsOf(ops, [input.run.id], SHOWN_BOUNDS);
  const earlier = await earlierBounds(ops, input);
  const walkGaps = paging.by === 'cursor' ? await walkGapsText(ops, input.run.id) : undefined;
  const end = endOf(input, { totals, unread, gaps, walkGaps, earlier, skipped });
  if (paging.by === 'cursor' && end.state === 'complete') await removeReadGaps(ops, input.run.sync, input.run.id);
  const at = effects.now();
  await endRun(ops, input.run.id, { ...end, at }, totals);
  return {
    sync: input.definition.name,
    endpoint: input.definition.endpoint.name,
    runId: input.run.id,
    continued: input.run.continued,
    ...totals,
    planned: totals.planned + input.covered,
    fresh: totals.fresh + input.covered,
    ...end,
    ...(input.run.continued && { pointsNow: await pointsSentSince(ops, input.run.id, input) }),
    ...(input.isLimited && { unverified: await unverifiedPoints(ops, { runId: input.run.id }) }),
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
const NAMED_GAPS = 3;

interface RunEnd {
  readonly state: RunState;
  readonly exitCode: number;
  readonly error: string | null;
  readonly next: string | null;
}

/** What decides the outcome of a run, beside its totals. */
interface EndInput extends Pick<ConcludeInput, 'stop' | 'aborted' | 'failOnTruncated' | 'missing' | 'limit'> {
  readonly checks?: readonly CheckResult[];
  readonly definition: Pick<SyncDefinition, 'name' | 'inDoubt' | 'acceptRejects' | 'acceptsUnreadable'>;
}

/** The totals that decide the outcome of a run. */
interface Sums {
  readonly totals: Pick<RunCounters, 'left' | 'inDoubt' | 'quarantined' | 'failed' | 'received' | 'truncated'>;
  readonly unread: UnreadableSum;
  readonly gaps: readonly Gap[];
  /** Why the log was not read to its end, although its pages were readable; undefined if it was. */
  readonly walkGaps?: string | undefined;
  /** Lower bounds of earlier runs that count. */
  readonly earlier: number;
  /** Planned requests that the limit of requests left unsent. */
  readonly skipped?: number;
}

/** How a run ends, by the first rule that applies. */
export const endOf = (input: EndInput, sums: Sums): RunEnd =>
  stoppedEnd(input, sums) ??
  lostAnswersEnd(input, sums) ??
  rejectedEnd(input, sums) ??
  walkGapEnd(sums) ??
  (input.failOnTruncated ? truncatedEnd(sums) : undefined) ??
  limitedEnd(input, sums) ??
  failedChecksEnd(input, sums) ??
  completeEnd(input, sums);

const interrupted = (error: string, next: string | null): RunEnd => ({
  state: 'interrupted',
  exitCode: EXIT.transient,
  error,
  next,
});

const rejected = (error: string, next: string | null): RunEnd => ({
  state: 'partial',
  exitCode: EXIT.rejects,
  error,
  next,
});

function stoppedEnd({ stop, aborted }: EndInput, { totals, skipped = 0 }: Sums): RunEnd | undefined {
  if (stop && stop.exit !== EXIT.rejects) {
    const state = stop.exit === EXIT.budget ? 'out_of_points' : 'interrupted';
    return { state, exitCode: stop.exit, error: stop.because, next: stop.next };
  }
  if (stop || totals.left === skipped) return undefined;
  return aborted
    ? interrupted('stopped by a signal', 'Run the sync again; it continues where it stopped.')
    : interrupted(
        `${totals.left - skipped} of the requests got no answer from a failing service`,
        'Run the sync again later; it continues where it stopped.',
      );
}

function lostAnswersEnd({ definition, missing }: EndInput, { totals }: Sums): RunEnd | undefined {
  if (totals.inDoubt === 0) return undefined;
  if (missing) {
    const { message, next = null } = missingSpoolError(definition.name, missing);
    return interrupted(message, next);
  }
  const error = `the answers to ${totals.inDoubt} of the requests were lost`;
  // Only requests that are sent again keep a run open. Otherwise it would stay open for a day without work.
  return definition.inDoubt === 'reconcile'
    ? interrupted(error, 'Run the sync again; it sends them again.')
    : {
        ...interrupted(error, 'They stay listed; with in_doubt: reconcile they are sent again.'),
        state: 'partial',
      };
}

function rejectedEnd({ stop, definition }: EndInput, { totals, unread, gaps }: Sums): RunEnd | undefined {
  const rejects = totals.quarantined + totals.failed + unread.items;
  const all = totals.received + totals.failed + unread.items;
  const isTooMuch = rejects / Math.max(1, all) > definition.acceptRejects;
  // An error that concerns the complete endpoint always exceeds the accepted share.
  const because = stop?.because ?? null;
  if (unread.requests > 0 && (isTooMuch || definition.acceptsUnreadable !== true))
    return rejected(because ?? unreadError(gaps, unread.requests), stop?.next ?? unreadNext(definition, unread));
  if (!stop && !isTooMuch) return undefined;
  return rejected(
    because ?? `${rejects} of ${all} items and inputs were rejected, more than accept.rejects allows`,
    stop?.next ?? 'See them with sluice quarantine list and sluice status.',
  );
}

const walkGapEnd = ({ walkGaps }: Sums): RunEnd | undefined =>
  walkGaps === undefined ? undefined : rejected(walkGaps, 'Run the sync again; it reads these times again.');

function truncatedEnd({ totals, earlier }: Sums): RunEnd | undefined {
  if (totals.truncated > 0)
    return rejected(
      `full answers that could not be split further: ${totals.truncated}`,
      'Raise count, or give the sync a window or split_by.',
    );
  if (earlier === 0) return undefined;
  return rejected(
    `full answers of earlier runs, on which this run relies, that could not be split further: ${earlier}`,
    'See them with sluice status.',
  );
}

const completeEnd = ({ definition }: EndInput, { totals, unread }: Sums): RunEnd => ({
  state: totals.failed + unread.requests > 0 ? 'partial' : 'complete',
  exitCode: EXIT.complete,
  error: null,
  next: unread.requests > 0 ? unreadNext(definition, unread) : advice(totals),
});

/** All data is there, so the state does not change; the exit code says that the data is not right. */
function failedChecksEnd(input: EndInput, sums: Sums): RunEnd | undefined {
  const error = failedChecksText(input.checks ?? []);
  const next = 'The rows stay loaded. Read the results with sluice query "select * from check_status".';
  return error === undefined ? undefined : { ...completeEnd(input, sums), exitCode: EXIT.rejects, error, next };
}

/** Names the slices whose answers could not be read, as many as fit a line. */
function unreadError(gaps: readonly Gap[], requests: number): string {
  const shown = gaps.slice(0, NAMED_GAPS).map(({ filters, reason }) => `${filtersText(filters)}: ${reason}`);
  const more = requests - shown.length;
  const answers = requests === 1 ? 'the answer to 1 request' : `the answers to ${requests} requests`;
  return `${answers} could not be read: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function unreadNext({ name }: EndInput['definition'], { requests, failing }: UnreadableSum): string {
  const again = `Run the sync again: it requests only what could not be read, at most ${MAX_UNREADABLE} times in total within max_age.`;
  const given = `sluice sync --refresh ${name} requests again what could not be read ${MAX_UNREADABLE} times.`;
  return failing === 0 ? again : failing === requests ? given : `${again} ${given}`;
}

function advice(totals: Sums['totals']): string | null {
  if (totals.quarantined > 0) return 'See what was not understood with sluice quarantine list.';
  if (totals.truncated > 0)
    return 'More may exist than was returned: raise count, or give the sync a window or split_by.';
  return null;
}

export interface RunOutcome {
  readonly lease: Lease;
  /** What stopped the run; undefined when everything was requested. */
  readonly stop: RunStop | undefined;
  readonly missing: readonly MissingSpools[];
  /** The caller's signal fired. */
  readonly aborted: boolean;
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
    isPart: isPartOfSync(options),
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
      aborted,
      lost,
      startedAt,
      pointsBefore,
      failOnTruncated: options.failOnTruncated,
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
