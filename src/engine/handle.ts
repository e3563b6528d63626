/** Handles the engine's jobs (a sync, or one chunk of a run) and decides what follows each. */
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT, SluiceError } from '../errors.ts';
import { executeChunk } from '../flow/run/chunk.ts';
import type { Invocation } from '../flow/run/invocation.ts';
import { invocationBudget } from '../control/budget/budget.ts';
import { syncsAtWork } from '../control/lease/syncs-at-work.ts';
import { retryTransient, toUserError } from '../warehouse/connect/retry-transient.ts';
import { openStatistics } from '../flow/run/analyze-tables.ts';
import type { SyncSummary } from '../ledger/summary.ts';
import { runSync } from '../sync.ts';
import type { DiedRun } from './died-work.ts';
import { busySyncs, childrenToStart } from './child-syncs.ts';
import { type ChunkJob, type JobData, type NewJob, type SyncJob, syncJob } from './job.ts';
import type { ActiveJob, Jobs, JobOutcome, Tx } from './jobs.ts';
import { endKeyWhileRunning, type NewestRun, newestRun } from './newest-run.ts';
import {
  decideAfter,
  isTransient,
  LEFT_AFTER_IDLE_MS,
  MOST_TRIES,
  RETRY_HELD_SECONDS,
  RETRY_OUTDATED_SECONDS,
} from './job-decision.ts';
import { endOf, type JobEnd } from './job-end.ts';

/** Events of the engine, for logs, metrics and alerts. */
export type EngineEvent =
  | { readonly kind: 'begun'; readonly job: JobData }
  /** A run ended; `summary` contains the result. */
  | { readonly kind: 'run ended'; readonly summary: SyncSummary }
  /** A run ended in a worker that may have died before it reported the end. */
  | { readonly kind: 'had ended'; readonly run: ReportedRun }
  /** A run was split into chunks, which all workers execute. */
  | { readonly kind: 'shared'; readonly sync: string }
  | { readonly kind: 'waits'; readonly sync: string; readonly because: string; readonly seconds: number }
  /** A job was given up and needs a person. */
  | { readonly kind: 'given up'; readonly job: JobData }
  /** A job was given up because its workers died. */
  | { readonly kind: 'lost'; readonly job: JobData; readonly because: string }
  /** The process of a run died, and no job continues it. */
  | { readonly kind: 'died'; readonly run: DiedRun }
  | { readonly kind: 'failed'; readonly job: JobData; readonly because: string };

/** How a run ended. */
export type ReportedRun = Pick<SyncSummary, 'sync' | 'endpoint' | 'runId' | 'state' | 'exitCode' | 'error'>;

export interface HandleContext {
  readonly invocation: Invocation;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  /** Most requests of a chunk; absent if no other process can take part. */
  readonly chunkSize: number | undefined;
  /** True if another process executes jobs of this warehouse. */
  readonly hasOtherWorkers: () => Promise<boolean>;
  readonly onEvent: (event: EngineEvent) => void;
  /** Fires when no new work may start. */
  readonly signal: AbortSignal;
}

/** Handles a job and returns its outcome. A job that is stopped half-way is enqueued again for another worker. */
export async function handle(context: HandleContext, { data, saveData }: ActiveJob): Promise<JobOutcome> {
  const { config } = context.invocation;
  if (context.signal.aborted) return requeued(data);
  const definition = config.syncs.find(({ name }) => name === data.sync);
  if (!definition) return postponeForOtherConfig(context, data);
  context.onEvent({ kind: 'begun', job: data });
  await context.invocation.checkClock();
  // With what the worker learns about earlier runs, for the job that follows.
  let job: JobData = data;
  try {
    if (data.kind === 'chunk') return await handleChunk(context, definition, data);
    const next = await beginSync(context, definition, data, saveData);
    if ('as' in next) return next;
    job = next;
    return await handleSync(context, definition, next);
  } catch (thrown) {
    const error = toUserError(thrown);
    if (!(error instanceof SluiceError)) return failed(context, data, String((error as Error).stack ?? error));
    if (data.kind === 'chunk' && error.exitCode !== EXIT.held) return failed(context, data, error.message);
    const { exitCode, message: because, next = null } = error;
    return follow(context, job, { exitCode, state: undefined, because, next });
  }
}

/** Returns the job as its run begins, or its outcome if its work is done or has to wait for a parent. */
async function beginSync(
  context: HandleContext,
  definition: SyncDefinition,
  data: SyncJob,
  saveData: ActiveJob['saveData'],
): Promise<SyncJob | JobOutcome> {
  const { warehouse, effects } = context.invocation;
  const newest = await retryTransient(() => newestRun(warehouse, data.sync), effects);
  const parents = await busyParents(context, definition);
  // A run that began while a parent was busy lacks rows of the parent.
  const done = parents.length > 0 && data.waited ? undefined : doneBefore(context, definition, data, newest);
  if (done) return done;
  if (parents.length > 0) return waitFor(context, parents, { ...data, since: newest.endKey, waited: true });
  const { waited, since = newest.endKey, ...rest } = data;
  const started = { ...rest, since };
  if (waited || data.since === undefined) await saveData(started);
  return started;
}

/** Postpones a job whose sync this config lacks, for a worker with another config, as in a rolling restart. */
async function postponeForOtherConfig(context: HandleContext, data: JobData): Promise<JobOutcome> {
  const because = `the config names no sync ${data.sync}`;
  if (data.tries >= MOST_TRIES || !(await context.hasOtherWorkers())) return failed(context, data, because);
  context.onEvent({ kind: 'waits', sync: data.sync, because, seconds: RETRY_HELD_SECONDS });
  return requeuedAfter({ ...data, tries: data.tries + 1 }, RETRY_HELD_SECONDS);
}

/**
 * Returns the outcome of a job that already ended its run, but whose worker died or lost the database before it could
 * settle the job. Undefined if the job still has work. Running the sync again would buy its answers again.
 */
function doneBefore(
  context: HandleContext,
  definition: SyncDefinition,
  data: SyncJob,
  newest: NewestRun,
): JobOutcome | undefined {
  const { endKey, exitCode, byChunk, state, error } = newest;
  if (data.since === undefined || exitCode === null || endKey === data.since) return undefined;
  // If such a run was interrupted, a job must continue it.
  if (byChunk && !isTransient({ exitCode, state })) return startRemainingChildren(context, data);
  reportHadEnded(context, definition, newest);
  return follow(context, data, { exitCode, state, because: error, next: null, since: endKey });
}

/** Reports the end of a run once more, since its worker may have died before its alerts were recorded. */
function reportHadEnded({ onEvent }: HandleContext, { name: sync, endpoint }: SyncDefinition, newest: NewestRun): void {
  const { runId = null, state, exitCode, error } = newest;
  if (state !== undefined && exitCode !== null)
    onEvent({ kind: 'had ended', run: { sync, endpoint: endpoint.name, runId, state, exitCode, error } });
}

/**
 * The outcome of a job whose run another worker concludes and follows up. But that worker saw the sync
 * as busy until this job was settled, so this job starts the remaining children.
 */
function startRemainingChildren({ invocation }: HandleContext, job: JobData): JobOutcome {
  return { as: 'done', follows: (tx) => childrenOf(invocation, tx, job, true) };
}

const childrenOf = async (
  { warehouse, config }: Invocation,
  tx: Tx,
  { sync, firing }: JobData,
  onlyUnbegun = false,
): Promise<readonly NewJob[]> =>
  (await childrenToStart(tx, warehouse, config.syncs, { sync, firing }, onlyUnbegun)).map((name) =>
    jobFor(syncJob(name, 0, firing)),
  );

async function busyParents({ invocation }: HandleContext, { after }: SyncDefinition): Promise<readonly string[]> {
  if (after.length === 0) return [];
  const { warehouse, effects } = invocation;
  const busy = await retryTransient(() => busySyncs(warehouse.db, warehouse), effects);
  // A plain sync of another process has no job.
  const atWork = await syncsAtWork(warehouse, effects);
  return after.filter((name) => busy.has(name) || atWork.has(name));
}

function waitFor({ onEvent }: HandleContext, parents: readonly string[], job: SyncJob): JobOutcome {
  onEvent({ kind: 'waits', sync: job.sync, because: `${parents.join(', ')} not done`, seconds: RETRY_HELD_SECONDS });
  return requeuedAfter(job, RETRY_HELD_SECONDS);
}

async function handleSync(context: HandleContext, definition: SyncDefinition, data: SyncJob): Promise<JobOutcome> {
  const { invocation, jobs, chunkSize, onEvent, signal } = context;
  const { warehouse, config, effects } = invocation;
  const statistics = openStatistics(warehouse, effects.onNotice);
  const summary = await runSync(
    invocation,
    {
      definition,
      options: { refresh: false, failOnTruncated: false },
      budget: await invocationBudget(warehouse, config.budget, {}, effects),
      rowCounter: statistics,
      ...(chunkSize !== undefined && {
        share: {
          chunkSize,
          enqueue: (tx, orders) =>
            jobs.enqueue(
              orders.map((order) => ({
                queue: 'chunk',
                data: { kind: 'chunk', tries: data.tries, firing: data.firing, ...order, lost: [...order.lost] },
              })),
              tx,
            ),
        },
      }),
    },
    signal,
  );
  if (summary === 'shared') {
    onEvent({ kind: 'shared', sync: data.sync });
    return startRemainingChildren(context, data);
  }
  onEvent({ kind: 'run ended', summary });
  const end = await endOf(invocation, data, summary);
  if (signal.aborted && isTransient(end)) return requeued({ ...data, since: end.since });
  await statistics.finish(signal);
  return follow(context, data, end);
}

async function handleChunk(context: HandleContext, definition: SyncDefinition, data: ChunkJob): Promise<JobOutcome> {
  const end = await executeChunk(context.invocation, definition, data, context.signal);
  switch (end.as) {
    case 'done':
    case 'void':
      return startRemainingChildren(context, data);
    case 'stopped':
      return requeued(data);
    case 'outdated': {
      context.onEvent({ kind: 'waits', sync: data.sync, because: end.because, seconds: RETRY_OUTDATED_SECONDS });
      // A worker with another version of the config may execute the chunk. If none does for a time, the job of the sync
      // takes the run over. If the run ends before, that job is done.
      const sync = { ...syncJob(data.sync, data.tries, data.firing), since: endKeyWhileRunning(data.runId) };
      const next = end.idleMs < LEFT_AFTER_IDLE_MS ? [data] : [data, sync];
      return { as: 'done', follows: async () => next.map((job) => jobFor(job, RETRY_OUTDATED_SECONDS)) };
    }
    case 'concluded': {
      const { invocation } = context;
      const { warehouse, effects } = invocation;
      if (end.summary) context.onEvent({ kind: 'run ended', summary: end.summary });
      else reportHadEnded(context, definition, await retryTransient(() => newestRun(warehouse, data.sync), effects));
      // The outcome of a run is the outcome of its sync.
      const { summary, exitCode, state } = end;
      const { runId, sync, tries, firing } = data;
      const job = { ...syncJob(sync, tries, firing), since: endKeyWhileRunning(runId) };
      const runEnd = await endOf(invocation, job, summary ?? { runId, exitCode, state, error: null, next: null });
      return follow(context, job, runEnd);
    }
  }
}

/** Decides what follows a run's end; the follow-up jobs are enqueued together with the settlement of the job. */
function follow({ invocation, onEvent }: HandleContext, data: JobData, end: JobEnd): JobOutcome {
  const { exitCode, because, next } = end;
  const step = decideAfter(end, data.tries, invocation.effects.random);
  switch (step.do) {
    case 'rest':
      return { as: 'done' };
    case 'follow':
      return { as: 'done', follows: (tx) => childrenOf(invocation, tx, data) };
    case 'again':
      onEvent({ kind: 'waits', sync: data.sync, because: because ?? 'a transient error', seconds: step.afterSeconds });
      // If another process or an earlier worker of this job has a run, the job is done when that run ends.
      const left = data.kind === 'sync' && end.since !== undefined ? { ...data, since: end.since } : data;
      return requeuedAfter({ ...left, tries: step.tries }, step.afterSeconds);
    case 'give up': {
      const job = { ...data, exitCode, next, ...(because !== null && { because }) };
      onEvent({ kind: 'given up', job });
      return { as: 'done', follows: async () => [{ queue: 'dead', data: job }] };
    }
  }
}

const jobFor = (data: JobData, afterSeconds?: number): NewJob => ({ queue: data.kind, data, afterSeconds });
const requeuedAfter = (data: JobData, afterSeconds: number): JobOutcome => ({
  as: 'done',
  follows: async () => [jobFor(data, afterSeconds)],
});
const requeued = (data: JobData): JobOutcome => ({ as: 'done', follows: async () => [jobFor(data)] });

function failed({ onEvent }: HandleContext, job: JobData, because: string): JobOutcome {
  onEvent({ kind: 'failed', job, because });
  return { as: 'failed', because };
}
