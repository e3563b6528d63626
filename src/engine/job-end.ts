/** How the work of a job ended, with what the next try has to know of it. */
import type { Invocation } from '../flow/run/invocation.ts';
import type { SyncSummary } from '../ledger/summary.ts';
import { retryTransient } from '../warehouse/connect/retry-transient.ts';
import type { SyncJob } from './job.ts';
import { type EndOfRun, isTransient } from './job-decision.ts';
import { newestRun } from './newest-run.ts';

/** The end of a job's work. */
export interface JobEnd extends EndOfRun {
  readonly because: string | null;
  readonly next: string | null;
  /** What another try stores as `since`; absent if no run of the job ended, such as after an error of the database. */
  readonly since?: string | undefined;
}

type EndedRun = Pick<SyncSummary, 'runId' | 'exitCode' | 'error' | 'next'> & Pick<EndOfRun, 'state'>;

/**
 * How a run of the job ended. The next try continues the run if this is still its newest end. If another process
 * continued it, the next try ends when that process has ended the run: a new run would buy the complete sync again.
 */
export async function endOf(
  { warehouse, effects }: Pick<Invocation, 'warehouse' | 'effects'>,
  { sync, since }: SyncJob,
  run: EndedRun,
): Promise<JobEnd> {
  const { exitCode, state, error: because, next, runId } = run;
  const end = { exitCode, state, because, next, since };
  if (runId === null || !isTransient(end)) return end;
  const newest = await retryTransient(() => newestRun(warehouse, sync), effects);
  return newest.runId === runId && newest.exitCode === exitCode ? { ...end, since: newest.endKey } : end;
}
