/** Summaries of syncs that did not conclude a run, and the exit code of all syncs. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT, SluiceError, TransientError } from '../../errors.ts';
import { ZERO_COUNTERS } from '../../ledger/run-counters.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import { toUserError } from '../../warehouse/connect/retry-transient.ts';
import type { RunStop } from './stop-controller.ts';

/** A summary in which nothing happened, to complete with how the sync ended. */
export const emptySummary = (
  definition: Pick<SyncDefinition, 'name'> & { readonly endpoint: Pick<SyncDefinition['endpoint'], 'name'> },
): Omit<SyncSummary, 'state' | 'exitCode' | 'error' | 'next' | 'tookMs'> => ({
  sync: definition.name,
  endpoint: definition.endpoint.name,
  runId: null,
  continued: false,
  ...ZERO_COUNTERS,
  quote: null,
  checks: [],
  lostAnswers: [],
  lowerBounds: [],
  gaps: [],
});

/** The summary of a sync that was not started, with the reason. */
export const notStartedSummary = (definition: SyncDefinition, exitCode: number, because: string): SyncSummary => ({
  ...emptySummary(definition),
  state: 'interrupted',
  exitCode,
  error: `not started: ${because}`,
  next: null,
  tookMs: 0,
});

/** The summary of a sync that a signal stopped before it started. */
export const stoppedSummary = (definition: SyncDefinition): SyncSummary =>
  notStartedSummary(definition, EXIT.transient, 'stopped by a signal');

/**
 * Does the work, and turns a SluiceError or a database error that a person can act on into the summary of a failed sync.
 * Rethrows every other error, which is a bug. If a transient error already stopped the run, the summary shows that error and
 * not the later failure to record the end of the run.
 */
export async function summarizeFailure(
  definition: SyncDefinition,
  { startedAt, now }: { readonly startedAt: Date; readonly now: () => Date },
  work: (onStop: (stop: RunStop) => void) => Promise<SyncSummary | 'shared'>,
): Promise<SyncSummary | 'shared'> {
  let stopped: RunStop | undefined;
  try {
    return await work((stop) => {
      stopped = stop;
    });
  } catch (thrown) {
    const error = toUserError(thrown);
    if (!(error instanceof SluiceError)) throw error;
    const { because, next } =
      stopped?.reason === 'unavailable' ? stopped : { because: error.message, next: error.next };
    const shown = error instanceof TransientError ? new TransientError(because, next == null ? {} : { next }) : error;
    return failedSummary(definition, shown, now().getTime() - startedAt.getTime());
  }
}

/** A sync that an error ended before its run could be summed up. */
const failedSummary = (definition: SyncDefinition, error: SluiceError, tookMs: number): SyncSummary => ({
  ...emptySummary(definition),
  state: 'failed',
  exitCode: error.exitCode,
  error: error.message,
  next: error.next ?? null,
  tookMs,
});

/** Exit codes by severity, worst first. */
const GRAVITY: readonly number[] = [
  EXIT.bug,
  EXIT.usage,
  EXIT.credential,
  EXIT.schema,
  EXIT.held,
  EXIT.budget,
  EXIT.transient,
  EXIT.rejects,
  EXIT.complete,
];

/** The exit code of an invocation. */
export const worstExitCode = (syncs: readonly SyncSummary[]): number =>
  GRAVITY.find((code) => syncs.some(({ exitCode }) => exitCode === code)) ?? EXIT.complete;
