/** Work on single jobs, as one worker would do it. */
import { type EngineEvent, handle } from '../../src/engine/handle.ts';
import type { JobData } from '../../src/engine/job.ts';
import type { ActiveJob, JobOutcome } from '../../src/engine/jobs.ts';
import { openInvocation } from '../../src/flow/run/invocation.ts';
import { configOf, countingIds, type Scene } from '../flow/scene.ts';
import { jobsOf } from './due.ts';

/** A sync of two groups, with a child. */
export const CONFIG = `syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ["1001", "1002"] }
  members:
    endpoint: microblog.user
    after: [groups]
    request: { user: ada }
`;

interface Worked {
  readonly outcome: JobOutcome;
  readonly events: readonly EngineEvent[];
  /** The job as the next worker would get it. */
  readonly kept: JobData;
}

interface WorkMore {
  readonly config?: string;
  /** The warehouse as the worker sees it. */
  readonly warehouse?: Scene['warehouse'];
  /** Stops the worker. */
  readonly signal?: AbortSignal;
}

/** A job that follows another. */
type Followed = readonly { readonly data: JobData }[];

const NEVER = new AbortController().signal;

/** Works on a job as one worker would. */
export async function work(scene: Scene, data: JobData, more: WorkMore = {}): Promise<Worked> {
  const { config = CONFIG, signal = NEVER, warehouse = scene.warehouse } = more;
  const { clock } = scene;
  const events: EngineEvent[] = [];
  let kept = data;
  const job: ActiveJob = {
    data,
    saveData: async (other) => void (kept = other),
  };
  const effects = {
    now: clock.now,
    sleep: clock.sleep,
    random: () => 0.5,
    newId: countingIds(9),
    onProgress: () => undefined,
    onNotice: () => undefined,
  };
  const invocation = await openInvocation(await configOf(config, scene.sandbox.url), warehouse, effects);
  try {
    const onEvent = (event: EngineEvent): void => void events.push(event);
    const jobs = { enqueue: () => Promise.reject(new Error('nothing is shared here')) };
    return {
      outcome: await handle(
        { invocation, jobs, chunkSize: undefined, hasOtherWorkers: async () => false, onEvent, signal },
        job,
      ),
      events,
      kept,
    };
  } finally {
    await invocation.close();
  }
}

/** The jobs that follow an outcome. */
export const followed = async ({ warehouse }: Scene, outcome: JobOutcome): Promise<Followed> =>
  outcome.as === 'done' && outcome.follows
    ? warehouse.db.transaction().execute((tx) => outcome.follows?.(tx) ?? Promise.resolve([]))
    : [];

/** Adds the queues to a warehouse. */
export async function addJobs(warehouse: Scene['warehouse']): Promise<Scene['warehouse']> {
  await (await jobsOf(warehouse)).close();
  return warehouse;
}
