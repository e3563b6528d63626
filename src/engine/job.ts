/** What the engine hands from one process to another: jobs, and what they ask for. */
import * as z from 'zod';

const tries = z.int().min(0).default(0);

/** `since` tells the sync's newest run as it was when the job was first taken in hand. */
const sync = z.object({ kind: z.literal('sync'), sync: z.string(), tries, since: z.string().optional() });
const chunk = z.object({
  kind: z.literal('chunk'),
  sync: z.string(),
  tries,
  runId: z.string(),
  chunk: z.int().min(0),
  token: z.string(),
  covered: z.int(),
  lost: z.array(z.string()),
});
/** Why a job was given up, kept with it. */
const end = z.object({ exitCode: z.int().optional(), because: z.string().optional(), next: z.string().nullish() });

const job = z.discriminatedUnion('kind', [sync, chunk]).and(end);

/** `sync` runs a sync, or prepares its run; `chunk` carries out a chunk of one. `tries` counts those that met trouble that may pass. */
export type JobData = z.output<typeof job>;
export type SyncJob = Extract<JobData, { kind: 'sync' }>;
export type ChunkJob = Extract<JobData, { kind: 'chunk' }>;

/** The data of a job as this version knows them; undefined when it does not. */
export const jobOf = (data: unknown): JobData | undefined => job.safeParse(data).data;

/** Where jobs wait: those that can be done, and those that were given up. */
export type Queue = JobData['kind'] | 'dead';

export interface NewJob {
  readonly queue: Queue;
  readonly data: JobData;
  readonly afterSeconds?: number;
}

/** What tells a job from others of its queue: of one key only one waits or is at work. */
export const keyOf = (data: JobData): string =>
  data.kind === 'sync' ? data.sync : `${data.runId}/${data.chunk}/${data.token}`;

/** The job that runs a sync. */
export const syncJob = (name: string, count = 0): SyncJob => ({ kind: 'sync', sync: name, tries: count });
