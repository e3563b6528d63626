/** The jobs on pg-boss, which keeps them in the warehouse's database in a schema of its own. */
import { sql } from 'kysely';
import { type ConstructorOptions, fromKysely, fromPglite, type JobResult, PgBoss } from 'pg-boss';
import { HeldError } from '../errors.ts';
import { type RetryEffects, retryTransient } from '../warehouse/connect/retry-transient.ts';
import type { Driver, Warehouse } from '../warehouse/connect/connect.ts';
import { jobOf, type JobData, keyOf, type NewJob, syncJob } from './job.ts';
import type { Jobs, JobOutcome, ScheduleChanges, Scheduled, Tx } from './jobs.ts';
import { jobsSchema, POLL_SECONDS, queues, REFRESH_SECONDS, settings } from './queues.ts';

export interface JobsOptions {
  /** What fires by the clock, for a process that keeps it; absent, this one does not. */
  readonly schedules?: readonly Scheduled[];
  /** Told of trouble that the queues go on after. */
  readonly onError: (error: Error) => void;
  readonly retry: RetryEffects;
}

type Place = Pick<Warehouse, 'db' | 'driver' | 'schema'>;

/** Opens the jobs of a warehouse, and makes their tables the first time. */
export async function openJobs(place: Place, { schedules, onError, retry }: JobsOptions): Promise<Jobs> {
  const reconciled = schedules && (await reconcile(place, schedules, onError));
  const boss = await started(place, schedules !== undefined, onError);
  return { ...jobsOn(boss, place, retry), reconciled };
}

async function started(place: Place, clock: boolean, onTrouble: (error: Error) => void): Promise<PgBoss> {
  const { driver } = place;
  if (!driver) throw new HeldError('Another process has the warehouse.', { next: 'Wait for it to end, or stop it.' });
  const boss = new PgBoss({
    ...settings,
    schema: jobsSchema(place.schema),
    schedule: clock,
    ...(driver.kind === 'pglite'
      ? { db: fromPglite(driver.pglite), backend: 'pglite' }
      : poolSettings(driver.settings)),
  });
  boss.on('error', onTrouble);
  try {
    await boss.start();
    for (const { name, ...options } of queues) {
      await boss.createQueue(name, options);
      const { policy: _, ...changeable } = options;
      await boss.updateQueue(name, changeable);
      // What the library knows of a queue it asks for once. Inside a transaction of the embedded database, which keeps
      // all others out, it would wait for itself.
      await boss.findJobs(name, { key: 'none', queued: true });
    }
    return boss;
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
}

/** As the warehouse connects, with the library's own rules for values and number of connections. */
function poolSettings(settings: Extract<Driver, { kind: 'pool' }>['settings']): ConstructorOptions {
  const { types: _types, max: _max, ...rest } = settings();
  // The library hands on what its pool takes, and types only a part of that.
  return rest as ConstructorOptions;
}

/**
 * Brings the schedules to what the config says, before any clock of this process runs: it would fire what was removed.
 * One that did not change is left alone.
 */
async function reconcile(
  place: Place,
  wanted: readonly Scheduled[],
  onTrouble: (error: Error) => void,
): Promise<ScheduleChanges> {
  const boss = await started(place, false, onTrouble);
  try {
    const known = new Map((await boss.getSchedules('sync')).map((it) => [it.key, it]));
    const unscheduled = [...known.keys()].filter((key) => !wanted.some(({ sync }) => sync === key));
    const changed = wanted.filter(({ sync, schedule: { cron, timezone } }) => {
      const before = known.get(sync);
      return before?.cron !== cron || before.timezone !== timezone;
    });
    for (const key of unscheduled) await boss.unschedule('sync', key);
    for (const { sync, schedule } of changed)
      await boss.schedule('sync', schedule.cron, syncJob(sync), {
        key: sync,
        tz: schedule.timezone,
        singletonKey: sync,
        missed: 'once',
      });
    return { scheduled: changed.map(({ sync }) => sync), unscheduled };
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** Longer than any drain: what is under way is waited for, and a second signal ends the process. */
const DRAIN_MS = 7 * 24 * 3_600_000;

function jobsOn(boss: PgBoss, { db, schema }: Place, steady: RetryEffects): Omit<Jobs, 'reconciled'> {
  const enqueue = async (jobs: readonly NewJob[], tx?: Tx): Promise<void> => {
    for (const { queue, data, afterSeconds } of jobs)
      await boss.send(queue, data, {
        ...(tx && { db: fromKysely(tx) }),
        ...(queue !== 'dead' && { singletonKey: keyOf(data) }),
        ...(afterSeconds !== undefined && { startAfter: afterSeconds }),
        // The first chunks of all runs come before the second of any: a giant does not keep the others waiting.
        ...(data.kind === 'chunk' && { priority: -data.chunk }),
      });
  };
  const settle = async (queue: string, job: Attempt, follows: Follow): Promise<void> =>
    db.transaction().execute(async (tx) => {
      // One after the other, so that of two parents that end at once the second sees the first's end.
      await sql`select pg_advisory_xact_lock(hashtextextended(${jobsSchema(schema)}, 0))`.execute(tx);
      const attempt = { id: job.id, retryCount: job.retryCount };
      // The library tells how many it settled, and leaves that out of its types.
      const { affected } = (await boss.complete(queue, attempt, null, { db: fromKysely(tx) })) as { affected: number };
      // Given to another worker meanwhile, what follows is that one's to see to.
      if (affected > 0) await enqueue(await follows(tx), tx);
    });
  /** The library changes the data of jobs that wait, not of one in hand. */
  const keep = async (queue: string, { id, retryCount }: Attempt, data: JobData): Promise<void> => {
    await sql`update ${sql.id(jobsSchema(schema), 'job')} set data = ${JSON.stringify(data)}::jsonb
      where name = ${queue} and id = ${id}::uuid and state = 'active' and retry_count = ${retryCount}`.execute(db);
  };
  return {
    enqueue: async (jobs, tx) => (tx ? enqueue(jobs, tx) : db.transaction().execute((own) => enqueue(jobs, own))),
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
        if (!data) return [given(job.id, 'this version does not know such a job')];
        const outcome: JobOutcome = await handle({
          data,
          signal: job.signal,
          saveData: (other) => keep(queue, job, other),
        });
        if (outcome.as === 'failed') return [{ id: job.id, status: 'failed', output: { message: outcome.because } }];
        // Done twice, it finds the job settled: a database that is away for a moment costs nothing.
        await retryTransient(() => settle(queue, job, outcome.follows ?? nothing), steady);
        return [{ id: job.id, status: 'completed' }];
      });
    },
    cancel: async (syncs) => {
      for (const sync of syncs)
        for (const { id, name } of await boss.findJobs('sync', { key: sync, queued: true }))
          await boss.deleteJob(name, id);
    },
    redrive: async (syncs) => {
      const put: JobData[] = [];
      for (const { id, data } of await boss.findJobs('dead', { queued: true })) {
        const job = jobOf(data);
        if (!job || (syncs.length > 0 && !syncs.includes(job.sync))) continue;
        await db.transaction().execute(async (tx) => {
          await boss.deleteJob('dead', id, { db: fromKysely(tx) });
          // A chunk's run may be over; its sync finds what is left of it.
          await enqueue([{ queue: 'sync', data: syncJob(job.sync) }], tx);
        });
        put.push(job);
      }
      return put;
    },
    close: () => boss.stop({ graceful: true, timeout: DRAIN_MS }),
  };
}

interface Attempt {
  readonly id: string;
  readonly retryCount: number;
}
type Follow = (tx: Tx) => Promise<readonly NewJob[]>;
const nothing: Follow = async () => [];

const given = (id: string, message: string): JobResult => ({ id, status: 'deadletter', output: { message } });
