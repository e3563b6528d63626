/** The engine's jobs, as the rest of it sees them: what stands behind is in `boss.ts` alone. */
import type { Kysely } from 'kysely';
import type { OperationsTables } from '../warehouse/schema/operations.ts';
import type { SyncSchedule } from './firings.ts';
import type { JobData, NewJob, Queue } from './job.ts';

export type Tx = Kysely<OperationsTables>;

/** A job that this process has in hand. */
export interface ActiveJob {
  readonly data: JobData;
  /** Fires when the job was taken for dead and given to another worker. */
  readonly signal: AbortSignal;
  /** Keeps other data with the job, for whoever takes it up should this process die. */
  readonly saveData: (data: JobData) => Promise<void>;
}

/** What became of a job. */
export type JobOutcome =
  /** It is over; what follows from it is entered in the same transaction, one such transaction at a time. */
  | { readonly as: 'done'; readonly follows?: (tx: Tx) => Promise<readonly NewJob[]> }
  /** It failed for a reason of this process: it is tried again, a few times, and then given up. */
  | { readonly as: 'failed'; readonly because: string };

/** A sync that fires by the clock. */
export interface Scheduled {
  readonly sync: string;
  readonly schedule: SyncSchedule;
}

/** What a reconciliation of the schedules changed. */
export interface ScheduleChanges {
  readonly scheduled: readonly string[];
  readonly unscheduled: readonly string[];
}

export interface Jobs {
  /** Enters jobs, in a transaction where one is given; one whose key waits or is at work already is left out. */
  readonly enqueue: (jobs: readonly NewJob[], tx?: Tx) => Promise<void>;
  /** Takes jobs of a queue in hand, so many at once, until it is closed. */
  readonly work: (
    queue: Exclude<Queue, 'dead'>,
    slots: number,
    handle: (job: ActiveJob) => Promise<JobOutcome>,
  ) => Promise<void>;
  /** Removes jobs of these syncs that wait; those at work go on. */
  readonly cancel: (syncs: readonly string[]) => Promise<void>;
  /** Puts jobs back that were given up, all or those of these syncs; returns them. */
  readonly redrive: (syncs: readonly string[]) => Promise<readonly JobData[]>;
  /** What the clock found to change when it was started; undefined without a clock. */
  readonly reconciled: ScheduleChanges | undefined;
  /** Takes nothing more in hand, waits for what is, and lets go of the database. */
  readonly close: () => Promise<void>;
}
