/** The configuration of the queues. The comment of each number says why it is neither smaller nor larger. */
import type { ConstructorOptions, Queue as QueueOptions } from 'pg-boss';
import type { Queue } from './job.ts';

/**
 * A worker that is silent this long is considered dead. If shorter, a statement that blocks an embedded process loses
 * its job; if longer, its work waits.
 */
const HEARTBEAT_SECONDS = 20;
/** How often a worker sends a heartbeat; three may be missed. */
export const REFRESH_SECONDS = 5;
/** How often dead workers are searched for. With the heartbeat and the first retry, work is taken over within 35 s. */
const MONITOR_SECONDS = 5;
/**
 * The longest the library allows. A handler that takes longer continues, and the next attempts of its job wait for it. The
 * heartbeat finds dead workers.
 */
const EXPIRE_SECONDS = 24 * 3600;
/** Retries after a worker died or could not work at all. With more, a job that kills its worker would kill many. */
const RETRIES = 5;
const RETRY_AFTER_SECONDS = 5;
const RETRY_AFTER_AT_MOST_SECONDS = 300;
/** The ledger has the results of a job, so its row is not needed. */
const DELETE_AFTER_SECONDS = 3600;
/** A job that was given up waits for a person. */
const KEEP_DEAD_SECONDS = 90 * 24 * 3600;
/** How often a free slot polls for a job. */
export const POLL_SECONDS = 1;
/** How often the scheduler checks for due schedules and forwards their firings: a firing is at most seconds late. */
const CLOCK_SECONDS = 10;
const FORWARD_SECONDS = 1;
/**
 * How often the scheduler compares its clock with the database's. It looks for firings of the last minute, so a clock
 * that was set must not count for longer.
 */
const COMPARE_CLOCKS_SECONDS = 5;
/** Separate from the connections of the runs, so that no load delays a heartbeat. */
const CONNECTIONS = 4;

const WORKED = {
  policy: 'exclusive',
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: EXPIRE_SECONDS,
  retryLimit: RETRIES,
  retryDelay: RETRY_AFTER_SECONDS,
  retryBackoff: true,
  retryDelayMax: RETRY_AFTER_AT_MOST_SECONDS,
  deleteAfterSeconds: DELETE_AFTER_SECONDS,
  deadLetter: 'dead',
} as const;

/** In order of creation, since the others refer to `dead`. */
export const queues: readonly (Omit<QueueOptions, 'name'> & { readonly name: Queue })[] = [
  { name: 'dead', retentionSeconds: KEEP_DEAD_SECONDS },
  { name: 'sync', ...WORKED },
  { name: 'chunk', ...WORKED },
];

/** Settings of the library for every process. */
export const settings: ConstructorOptions = {
  supervise: true,
  superviseIntervalSeconds: MONITOR_SECONDS,
  monitorIntervalSeconds: MONITOR_SECONDS,
  maintenanceIntervalSeconds: DELETE_AFTER_SECONDS,
  cronMonitorIntervalSeconds: CLOCK_SECONDS,
  cronWorkerIntervalSeconds: FORWARD_SECONDS,
  clockMonitorIntervalSeconds: COMPARE_CLOCKS_SECONDS,
  // The tables are small, and the server maintains them.
  reindex: false,
  monitorVacuum: false,
  max: CONNECTIONS,
};
