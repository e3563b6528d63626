/** The jobs on pg-boss, which stores them in a separate schema of the warehouse's database. */
import { sql } from 'kysely';
import { type ConstructorOptions, fromKysely, type JobResult, PgBoss } from 'pg-boss';
import { DAY_MS } from '../day.ts';
import { HeldError } from '../errors.ts';
import { type RetryEffects, retryTransient } from '../warehouse/connect/retry-transient.ts';
import type { Driver, Warehouse } from '../warehouse/connect/connect.ts';
import { deadJobs } from './dead-jobs.ts';
import { jobOf, type JobData, keyOf, type NewJob, syncJob } from './job.ts';
import { RETRY_HELD_SECONDS } from './job-decision.ts';
import type { Jobs, JobOutcome, Scheduled, Tx } from './jobs.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';
import { FIRING, POLL_SECONDS, queues, REFRESH_SECONDS, settings } from './queues.ts';
import {
  type JobAttempt,
  fireSchedules,
  type FollowUpJobs,
  reconcileSchedules,
  type SettleFiring,
} from './schedules.ts';

export interface JobsOptions {
  /** The schedules, for a process that runs the scheduler; absent, this process does not. */
  readonly schedules?: readonly Scheduled[];
  /** Called with errors that the queues survive. */
  readonly onError: (error: Error) => void;
  readonly retry: RetryEffects;
}

type JobsDatabase = Pick<Warehouse, 'db' | 'driver' | 'ops' | 'schema'>;

/** Opens the jobs of a warehouse, and creates their tables on first use. */
export async function openJobs(database: JobsDatabase, { schedules, onError, retry }: JobsOptions): Promise<Jobs> {
  const boss = await started(database, onError);
  try {
    if (!schedules) return { ...jobsOn(boss, database, retry), reconciled: undefined };
    const reconciled = await inTurn(database, (tx) => reconcileSchedules(boss, tx, database, schedules));
    const settleFiring: SettleFiring = (job, follows) =>
      retryTransient(() => settle(boss, database, FIRING, job, follows), retry);
    await fireSchedules(boss, settleFiring, onError);
    return { ...jobsOn(boss, database, retry), reconciled };
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
}

/**
 * Executes a transaction that ends jobs or changes schedules, one at a time: of two parents that end together, the second
 * sees the end of the first.
 */
const inTurn = <T>({ db, schema }: JobsDatabase, execute: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${jobsSchema(schema)}, 0))`.execute(tx);
    return execute(tx);
  });

async function started(database: JobsDatabase, onTrouble: (error: Error) => void): Promise<PgBoss> {
  const { driver } = database;
  if (!driver) throw new HeldError('Another process has the warehouse.', { next: 'Wait for it to end, or stop it.' });
  const boss = new PgBoss({
    ...settings,
    schema: jobsSchema(database.schema),
    // Schedules are jobs of their own; see `schedules.ts`.
    schedule: false,
    ...(driver.kind === 'embedded'
      ? { db: { executeSql: withOwnErrors(driver.runScript) }, backend: 'pglite' }
      : poolSettings(driver.settings)),
  });
  boss.on('error', onTrouble);
  try {
    await boss.start();
    for (const { name, ...options } of queues) {
      await boss.createQueue(name, options);
      const { policy: _, ...changeable } = options;
      await boss.updateQueue(name, changeable);
      // pg-boss loads the metadata of a queue once and caches it. Inside a transaction of the embedded database, which
      // excludes all other sessions, that load would deadlock.
      await boss.findJobs(name, { key: 'none', queued: true });
    }
    return boss;
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
}

type RunScript = Extract<Driver, { kind: 'embedded' }>['runScript'];

/** The library adds to the messages of errors, and the error of a database that ended belongs to all its users. */
const withOwnErrors =
  (runScript: RunScript): RunScript =>
  (...statement) =>
    runScript(...statement).catch((error: unknown) => {
      throw Object.assign(new Error((error as Error).message, { cause: error }), error);
    });

/** Connects as the warehouse does, but with the library's own rules for values and its own number of connections. */
function poolSettings(settings: Extract<Driver, { kind: 'pool' }>['settings']): ConstructorOptions {
  const { types: _types, max: _max, ...rest } = settings();
  // The library passes all pool options on, but its types list only some of them.
  return rest as ConstructorOptions;
}

/** Longer than any drain: running jobs are awaited, and a second signal ends the process. */
const DRAIN_MS = 7 * DAY_MS;

async function enqueue(boss: PgBoss, tx: Tx, jobs: readonly NewJob[]): Promise<void> {
  for (const { queue, data, afterSeconds } of jobs)
    await boss.send(queue, data, {
      db: fromKysely(tx),
      ...(queue !== 'dead' && { singletonKey: keyOf(data) }),
      ...(afterSeconds !== undefined && { startAfter: afterSeconds }),
      // The first chunks of all runs come before the second of any, so that a large run does not delay the others.
      ...(data.kind === 'chunk' && { priority: -data.chunk }),
    });
}

/** Ends a job and enqueues its follow-up jobs, unless another worker has the job now. */
const settle = (
  boss: PgBoss,
  database: JobsDatabase,
  queue: string,
  job: JobAttempt,
  follows: FollowUpJobs,
): Promise<void> =>
  inTurn(database, async (tx) => {
    const attempt = { id: job.id, retryCount: job.retryCount };
    // The library returns how many jobs it settled, but its types omit that.
    const { affected } = (await boss.complete(queue, attempt, null, { db: fromKysely(tx) })) as { affected: number };
    if (affected > 0) await enqueue(boss, tx, await follows(tx));
  });

function jobsOn(boss: PgBoss, database: JobsDatabase, retry: RetryEffects): Omit<Jobs, 'reconciled'> {
  const { db, schema } = database;
  /** The library can change the data of waiting jobs only, not of active ones. */
  const keep = async (queue: string, { id, retryCount }: JobAttempt, data: JobData): Promise<void> => {
    const { rows } = await retryTransient(
      () =>
        sql`update ${sql.id(jobsSchema(schema), 'job')} set data = ${JSON.stringify(data)}::jsonb
      where name = ${queue} and id = ${id}::uuid and state = 'active' and retry_count = ${retryCount} returning id`.execute(
          db,
        ),
      retry,
    );
    if (rows.length === 0) throw new HeldError('another worker has the job');
  };
  /**
   * The handlers of this process, by the keys of their jobs. A handler can outlive its job: the library gives a job up after
   * 24 hours, or when its heartbeats are late, and tries it again.
   */
  const running = new Map<string, Promise<JobOutcome>>();
  const handleOnce = async (key: string, start: () => Promise<JobOutcome>, data: JobData): Promise<JobOutcome> => {
    if (running.has(key)) return { as: 'done', follows: async () => [later(data)] };
    const handling = start();
    running.set(key, handling);
    return handling.finally(() => running.delete(key));
  };
  return {
    enqueue: async (jobs, tx) =>
      tx ? enqueue(boss, tx, jobs) : db.transaction().execute((own) => enqueue(boss, own, jobs)),
    work: async (queue, slots, handle) => {
      const options = {
        localConcurrency: slots,
        pollingIntervalSeconds: POLL_SECONDS,
        heartbeatRefreshSeconds: REFRESH_SECONDS,
        perJobResults: true,
      } as const;
      await boss.work<unknown, unknown, typeof options>(queue, options, async ([job]): Promise<JobResult[]> => {
        if (!job) return [];
        const data = jobOf(job.data);
        if (!data) return [givenUp(job.id, 'this version does not know such a job')];
        const start = (): Promise<JobOutcome> => handle({ data, saveData: (other) => keep(queue, job, other) });
        const outcome = await handleOnce(`${queue} ${keyOf(data)}`, start, data);
        // The next attempt finds out how the work ended.
        if (job.signal.aborted) return [];
        if (outcome.as === 'failed') return [{ id: job.id, status: 'failed', output: { message: outcome.because } }];
        // Safe to repeat: a second call finds the job settled. So a short loss of the database costs nothing.
        await retryTransient(() => settle(boss, database, queue, job, outcome.follows ?? nothing), retry);
        return [{ id: job.id, status: 'completed' }];
      });
    },
    cancel: async (syncs) => {
      for (const sync of syncs)
        for (const { id, name } of await boss.findJobs('sync', { key: sync, queued: true }))
          await boss.deleteJob(name, id);
    },
    redrive: (syncs) => redriveDead(boss, database, syncs),
    close: async () => {
      await boss.stop({ graceful: true, timeout: DRAIN_MS });
      // The library does not wait for its sockets to close, and the loss of such a connection is no error.
      boss.removeAllListeners('error').on('error', () => undefined);
      // The library does not wait for handlers whose jobs it gave up.
      await Promise.allSettled(running.values());
    },
  };
}

/** Requeues jobs that were given up; see `Jobs`. */
async function redriveDead(boss: PgBoss, database: JobsDatabase, syncs: readonly string[]): Promise<readonly string[]> {
  const requeued = new Set<string>();
  const dead =
    syncs.length > 0 ? await boss.findJobs('dead', { queued: true }) : (await deadJobs(database)).toReversed();
  for (const { id, data } of dead) {
    const job = jobOf(data);
    if (!job || (syncs.length > 0 && !syncs.includes(job.sync))) continue;
    await database.db.transaction().execute(async (tx) => {
      await boss.deleteJob('dead', id, { db: fromKysely(tx) });
      // A chunk's run may be over, so the sync is enqueued and continues whatever is left.
      await enqueue(boss, tx, [{ queue: 'sync', data: syncJob(job.sync) }]);
    });
    requeued.add(job.sync);
  }
  return [...requeued];
}

const later = (data: JobData): NewJob => ({ queue: data.kind, data, afterSeconds: RETRY_HELD_SECONDS });
const nothing: FollowUpJobs = async () => [];

const givenUp = (id: string, message: string): JobResult => ({ id, status: 'deadletter', output: { message } });
