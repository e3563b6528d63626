/** How the queues are set up: each number with what goes wrong on either side of it. */
import { createHash } from 'node:crypto';
import type { ConstructorOptions, Queue as QueueOptions } from 'pg-boss';
import type { Queue } from './job.ts';

/** A worker silent for so long is taken for dead. Shorter, and a statement that holds an embedded process up loses its job; longer, and its work waits. */
const HEARTBEAT_SECONDS = 20;
/** How often a worker says that it is there: three may be missed. */
export const REFRESH_SECONDS = 5;
/** How often the dead are looked for. With the heartbeat and the first retry, work is taken over within 35 s. */
const MONITOR_SECONDS = 5;
/** The longest the library allows: calls take up to 25 minutes, a run without chunks hours, and the heartbeat finds the dead. */
const EXPIRE_SECONDS = 24 * 3600;
/** Of a process that died or could not work at all: more would bring every worker down that takes the job up. */
const RETRIES = 5;
const RETRY_AFTER_SECONDS = 5;
const RETRY_AFTER_AT_MOST_SECONDS = 300;
/** What came of a job is in the ledger; its row serves nobody. */
const DELETE_AFTER_SECONDS = 3600;
/** What was given up waits for somebody to look. */
const KEEP_DEAD_SECONDS = 90 * 24 * 3600;
/** How often a free slot looks for a job. */
export const POLL_SECONDS = 1;
/** The clock looks so often what is due, and its firings are handed on so often: a firing is seconds late at most. */
const CLOCK_SECONDS = 10;
const FORWARD_SECONDS = 1;
/** Apart from those of the runs, so that no load keeps a heartbeat waiting. */
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

/** In an order in which they can be made. */
export const queues: readonly (Omit<QueueOptions, 'name'> & { readonly name: Queue })[] = [
  { name: 'dead', retentionSeconds: KEEP_DEAD_SECONDS },
  { name: 'sync', ...WORKED },
  { name: 'chunk', ...WORKED },
];

/** Settings of the library that hold for every process. */
export const settings: ConstructorOptions = {
  supervise: true,
  superviseIntervalSeconds: MONITOR_SECONDS,
  monitorIntervalSeconds: MONITOR_SECONDS,
  maintenanceIntervalSeconds: DELETE_AFTER_SECONDS,
  cronMonitorIntervalSeconds: CLOCK_SECONDS,
  cronWorkerIntervalSeconds: FORWARD_SECONDS,
  // The tables are small, and their server keeps them.
  reindex: false,
  monitorVacuum: false,
  max: CONNECTIONS,
};

/** The longest name of a schema that the library takes, less what is added. */
const LONGEST = 50 - '_jobs'.length;

/** The schema of the queues, beside that of the analysts; a long name is cut, and told from others by a digest. */
export function jobsSchema(schema: string): string {
  if (schema.length <= LONGEST) return `${schema}_jobs`;
  const digest = createHash('sha256').update(schema).digest('hex').slice(0, 8);
  return `${schema.slice(0, LONGEST - 9)}_${digest}_jobs`;
}
