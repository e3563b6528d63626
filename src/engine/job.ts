/** The data of jobs, which processes exchange through the queue. */
import * as z from 'zod';

const tries = z.int().min(0).default(0);

/** The firing that the job serves, also through parents; absent if no schedule started it. */
const firing = z.string().optional();

/**
 * `since` is the end of the sync's newest run at the first start of the job, after its last try, or, if `waited`, when the job
 * last had to wait for a parent.
 */
const sync = z.object({
  kind: z.literal('sync'),
  sync: z.string(),
  tries,
  since: z.string().optional(),
  waited: z.boolean().optional(),
  firing,
});
const chunk = z.object({
  kind: z.literal('chunk'),
  sync: z.string(),
  tries,
  runId: z.string(),
  chunk: z.int().min(0),
  token: z.string(),
  covered: z.int(),
  lost: z.array(z.string()),
  startedAt: z.string(),
  continued: z.boolean(),
  firing,
});
/** Why a job was given up, stored with it. */
const end = z.object({ exitCode: z.int().optional(), because: z.string().optional(), next: z.string().nullish() });

const job = z.discriminatedUnion('kind', [sync, chunk]).and(end);

/** `sync` runs a sync, or prepares its run; `chunk` executes a chunk of a run. `tries` counts transient errors. */
export type JobData = z.output<typeof job>;
export type SyncJob = Extract<JobData, { kind: 'sync' }>;
export type ChunkJob = Extract<JobData, { kind: 'chunk' }>;

/** Parses the data of a job; undefined if this version does not know them. */
export const jobOf = (data: unknown): JobData | undefined => job.safeParse(data).data;

/** Queues of jobs: those to execute, and those that were given up. */
export type Queue = JobData['kind'] | 'dead';

export interface NewJob {
  readonly queue: Queue;
  readonly data: JobData;
  readonly afterSeconds?: number | undefined;
}

/** The key of a job in its queue: at most one job of a key waits or is active. */
export const keyOf = (data: JobData): string =>
  data.kind === 'sync' ? data.sync : `${data.runId}/${data.chunk}/${data.token}`;

/** Creates the job that runs a sync. */
export const syncJob = (name: string, count = 0, at?: string): SyncJob => ({
  kind: 'sync',
  sync: name,
  tries: count,
  ...(at !== undefined && { firing: at }),
});
