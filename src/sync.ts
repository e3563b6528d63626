/** The complete flow of one sync on one screen: recover, prepare, share or execute, conclude. */
import { fillColumnsOnce } from './flow/fill/fill-columns.ts';
import { concludeOpenRun } from './flow/run/conclude.ts';
import { stoppedSummary, summarizeFailure } from './flow/run/failed-summary.ts';
import type { Invocation } from './flow/run/invocation.ts';
import { loadLeftAnswers, endLeftRuns } from './flow/ingest/left-work.ts';
import { handOver, openRun, recoverPaidAnswers } from './flow/run/open-run.ts';
import { withSyncLease } from './flow/run/sync-lease.ts';
import type { SyncRun } from './flow/run/sync-run.ts';
import { traceRun } from './flow/run/trace-run.ts';
import type { SyncSummary } from './ledger/summary.ts';

/**
 * Runs one sync and returns its summary, which includes an error that a person can act on; throws any other error. Returns
 * `shared` when workers execute the chunks of its run from now on. When the signal aborts, nothing new is sent, and answers
 * of calls in flight are stored.
 */
export async function runSync(
  invocation: Invocation,
  syncRun: SyncRun,
  signal: AbortSignal,
): Promise<SyncSummary | 'shared'> {
  const { definition } = syncRun;
  const { effects, warehouse } = invocation;
  const startedAt = effects.now();
  return traceRun(effects, definition, (spans) =>
    summarizeFailure(definition, { startedAt, now: effects.now }, async (onStop) => {
      // A large table takes long. Nothing has been sent yet, so the signal can end it here.
      if (!(await fillColumnsOnce(warehouse, effects, signal))) return stoppedSummary(definition);
      return withSyncLease(invocation, definition.name, signal, async (held) => {
        const missing = await recoverPaidAnswers(invocation, syncRun);
        await loadLeftAnswers(invocation, syncRun, held);
        await endLeftRuns(invocation, startedAt, held);
        const open = await openRun(invocation, { ...syncRun, ...spans }, { startedAt, held, missing });
        if (!open) return stoppedSummary(definition);
        if (await handOver(invocation, syncRun, open, held)) return 'shared';
        const stop = await open.segment.complete(held.signal, (stopped) => {
          onStop(stopped);
          syncRun.onStop?.(stopped);
        });
        const outcome = { lease: held.lease, stop, missing, aborted: signal.aborted, signal: held.signal };
        return concludeOpenRun(invocation, syncRun, open, outcome);
      });
    }),
  );
}
