/** The engine's jobs, independent of the library: only `boss.ts` and `schedules.ts` use pg-boss. */
import type { Kysely } from 'kysely';
import type { OperationsTables } from '../warehouse/schema/operations.ts';
import type { SyncSchedule } from './firings.ts';
import type { JobData, NewJob, Queue } from './job.ts';

export type Tx = Kysely<OperationsTables>;

/** A job that this process executes. */
export interface ActiveJob {
  readonly data: JobData;
  /**
   * Replaces the data of the job, for the worker that takes over if this process dies. Throws a HeldError if the job was
   * given up or retried meanwhile.
   */
  readonly saveData: (data: JobData) => Promise<void>;
}

/** The outcome of a job. */
export type JobOutcome =
  /** The job is over. Its follow-up jobs are enqueued in the same transaction; these transactions run one at a time. */
  | { readonly as: 'done'; readonly follows?: (tx: Tx) => Promise<readonly NewJob[]> }
  /** The job failed because of this process. It is retried a few times and then given up. */
  | { readonly as: 'failed'; readonly because: string };

/** A sync with a schedule. */
export interface Scheduled {
  readonly sync: string;
  readonly schedule: SyncSchedule;
}

/** The changes that made the schedules equal to those in the config. */
export interface ScheduleChanges {
  readonly scheduled: readonly string[];
  readonly unscheduled: readonly string[];
}

export interface Jobs {
  /** Enqueues jobs, inside the transaction if one is passed. A job whose key already waits or is active is ignored. */
  readonly enqueue: (jobs: readonly NewJob[], tx?: Tx) => Promise<void>;
  /**
   * Executes jobs of a queue, at most `slots` concurrently, until the queue is closed. No two handlers of this process have
   * the same key at once.
   */
  readonly work: (
    queue: Exclude<Queue, 'dead'>,
    slots: number,
    handle: (job: ActiveJob) => Promise<JobOutcome>,
  ) => Promise<void>;
  /** Removes waiting jobs of these syncs; active jobs continue. */
  readonly cancel: (syncs: readonly string[]) => Promise<void>;
  /** Requeues jobs that were given up, of these syncs, or of all that completed no run since; returns the syncs. */
  readonly redrive: (syncs: readonly string[]) => Promise<readonly string[]>;
  /** The changes to the schedules at the start; undefined without a scheduler. */
  readonly reconciled: ScheduleChanges | undefined;
  /** Starts no new job, waits for all handlers, and closes the connections. */
  readonly close: () => Promise<void>;
}
