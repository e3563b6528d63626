/**
 * The long-running roles: a scheduler with a worker, or a worker alone, until a signal ends them. `boss.ts` keeps the jobs,
 * `schedules.ts` creates them, `handle.ts` works on each, and `job-decision.ts` decides what follows it.
 */
import { once } from 'node:events';
import type { Config } from '../config/definition.ts';
import { keepLeaseAlive } from '../control/lease/keep-lease-alive.ts';
import { type FlowEffects, openInvocation } from '../flow/run/invocation.ts';
import { retryTransient } from '../warehouse/connect/retry-transient.ts';
import { acquireLease, liveLeases, removeLeases } from '../ledger/lease.ts';
import type { Notice } from '../ledger/summary.ts';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { openJobs } from './boss.ts';
import { diedRuns, lostJobs } from './died-work.ts';
import { type EngineEvent, handle } from './handle.ts';
import type { ScheduleChanges } from './jobs.ts';
import { ROLE_LEASE_PREFIX, WORKER_DIED } from './status.ts';
import { holderOf } from '../control/lease/holder.ts';

/** `schedule` runs the scheduler and works; `worker` works. */
export type Role = 'schedule' | 'worker';

export interface ServeOptions {
  readonly role: Role;
  /** Most concurrent calls of this process, at most what the token allows. */
  readonly calls?: number | undefined;
  /** Most requests of a chunk. */
  readonly chunkSize?: number | undefined;
}

export interface ServeEffects extends FlowEffects {
  readonly onEvent: (event: EngineEvent) => void;
  /** Called once jobs are processed, with the changes to the schedules. */
  readonly onReady: (reconciled: ScheduleChanges | undefined) => void;
  /** Called with errors that the process survives. */
  readonly onError: (error: Error) => void;
}

/** If smaller, a run of thousands has too many jobs; if larger, the other workers idle while the last one works. */
const CHUNK_SIZE = 250;
/** Concurrent syncs of a process: each mostly waits for the service, and a long one leaves room for others. */
const SYNC_SLOTS = 4;
/** Concurrent chunks: there is room for chunks of a second run. */
const CHUNK_SLOTS = 2;

/** How often the scheduler looks for jobs and runs whose processes died. A lease expires within 12 s. */
const LOST_EVERY_MS = 15_000;

/**
 * Serves until the signal fires. Then nothing new is sent, calls in flight are awaited and stored, and jobs are
 * requeued. Throws the reason if an embedded database ended by itself, so that a supervisor starts the process again.
 */
export async function serve(
  config: Config,
  warehouse: Warehouse,
  { role, calls, chunkSize = CHUNK_SIZE }: ServeOptions,
  effects: ServeEffects,
  stop: AbortSignal,
): Promise<void> {
  const { onEvent, onError, onReady } = effects;
  const signal = warehouse.failed ? AbortSignal.any([stop, warehouse.failed]) : stop;
  const ops = operationsOf(warehouse);
  const name = `${ROLE_LEASE_PREFIX}${role}:${holderOf(effects)}`;
  const lease = await retryTransient(() => acquireLease(ops, name, name, false), effects);
  {
    // Ended in reverse order.
    await using opened = new AsyncDisposableStack();
    opened.defer(() => removeLeases(ops, name).catch(() => undefined));
    opened.use(keepLeaseAlive(ops, lease, effects.sleep));
    const invocation = await openInvocation(config, warehouse, effects, calls);
    opened.defer(invocation.close);
    const schedules = config.syncs.flatMap(({ name: sync, schedule }) => (schedule ? [{ sync, schedule }] : []));
    const jobs = await openJobs(warehouse, { onError, retry: effects, ...(role === 'schedule' && { schedules }) });
    opened.defer(jobs.close);
    const others = (role = ''): Promise<boolean> =>
      retryTransient(
        async () => (await liveLeases(ops, ROLE_LEASE_PREFIX + role)).some((it) => it.name !== name),
        effects,
      );
    const { unscheduled = [] } = jobs.reconciled ?? {};
    await jobs.cancel(unscheduled);
    if (unscheduled.length > 0 && (await others('schedule:'))) effects.onNotice(unscheduledNotice(unscheduled));
    // Only other processes could take part, and an embedded warehouse has one process.
    const shares = warehouse.kind === 'postgres' ? chunkSize : undefined;
    const handling = { invocation, jobs, chunkSize: shares, hasOtherWorkers: others, onEvent, signal };
    await jobs.work('sync', SYNC_SLOTS, (job) => handle(handling, job));
    await jobs.work('chunk', CHUNK_SLOTS, (job) => handle(handling, job));
    onReady(jobs.reconciled);
    if (role === 'schedule') await reportDied(config, warehouse, effects, signal);
    else if (!signal.aborted) await once(signal, 'abort');
  }
  warehouse.failed?.throwIfAborted();
}

/** The warning that schedules were removed that another live scheduler may have in its config. */
const unscheduledNotice = (syncs: readonly string[]): Notice => ({
  level: 'warn',
  message:
    `this config has no schedule for ${syncs.join(', ')}, so these no longer fire, but another sluice schedule is running. ` +
    'If it has another config, give that config a warehouse.schema of its own and restart both',
});

/** Reports each job and run whose process died, once, until the signal fires. */
async function reportDied(
  config: Config,
  warehouse: Warehouse,
  { onEvent, onError, sleep }: ServeEffects,
  signal: AbortSignal,
): Promise<void> {
  const reported = new Set<string>();
  const reportOnce = (key: string, event: EngineEvent): void => {
    if (!reported.has(key)) onEvent(event);
    reported.add(key);
  };
  while (!signal.aborted) {
    try {
      for (const { id, job } of await lostJobs(warehouse))
        reportOnce(`job ${id}`, { kind: 'lost', job, because: WORKER_DIED });
      const died = (await diedRuns(warehouse)).filter(({ sync }) => config.syncs.some(({ name }) => name === sync));
      for (const run of died) reportOnce(`run ${run.runId}`, { kind: 'died', run });
      // A run that was continued may die again.
      const now = new Set(died.map(({ runId }) => `run ${runId}`));
      for (const key of reported) if (key.startsWith('run ') && !now.has(key)) reported.delete(key);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
    await sleep(LOST_EVERY_MS, signal).catch(() => undefined);
  }
}
