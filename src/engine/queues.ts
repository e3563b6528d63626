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
/** A firing that was missed happens when a scheduler starts, however late. */
const KEEP_FIRINGS_SECONDS = 10 * 365 * 24 * 3600;
/** A firing is settled in one short transaction. */
const EXPIRE_FIRING_SECONDS = 60;
/** How often a free slot polls for a job. */
export const POLL_SECONDS = 1;
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

/** The queue of the jobs that wait for the next firing of a schedule. */
export const FIRING = 'firing';

/** In order of creation, since the others refer to `dead`. */
export const queues: readonly (Omit<QueueOptions, 'name'> & { readonly name: Queue | typeof FIRING })[] = [
  { name: 'dead', retentionSeconds: KEEP_DEAD_SECONDS },
  { name: 'sync', ...WORKED },
  { name: 'chunk', ...WORKED },
  {
    name: FIRING,
    policy: 'exclusive',
    expireInSeconds: EXPIRE_FIRING_SECONDS,
    // The largest number: a schedule ends only when it is removed.
    retryLimit: 2 ** 31 - 1,
    retryDelay: RETRY_AFTER_SECONDS,
    retentionSeconds: KEEP_FIRINGS_SECONDS,
    deleteAfterSeconds: DELETE_AFTER_SECONDS,
  },
];

/** Settings of the library for every process. */
export const settings: ConstructorOptions = {
  supervise: true,
  superviseIntervalSeconds: MONITOR_SECONDS,
  monitorIntervalSeconds: MONITOR_SECONDS,
  maintenanceIntervalSeconds: DELETE_AFTER_SECONDS,
  // The tables are small, and the server maintains them.
  reindex: false,
  monitorVacuum: false,
  max: CONNECTIONS,
};
