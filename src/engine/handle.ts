/** Does the engine's jobs: a sync, or one chunk of a run; and says what follows from each. */
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT, SluiceError } from '../errors.ts';
import { carryOutChunk } from '../flow/run/chunk.ts';
import type { Invocation } from '../flow/run/invocation.ts';
import { invocationBudget } from '../control/budget/budget.ts';
import { databaseTrouble } from '../warehouse/connect/retry-transient.ts';
import { openTally, tidy } from '../flow/run/analyze-tables.ts';
import type { SyncSummary } from '../ledger/summary.ts';
import { runSync } from '../sync.ts';
import type { DiedRun } from './died-runs.ts';
import { busySyncs, childrenToBegin } from './family.ts';
import { type ChunkJob, type JobData, type NewJob, type SyncJob, syncJob } from './job.ts';
import type { JobInHand, Jobs, Outcome, Tx } from './jobs.ts';
import { newestRun } from './newest-run.ts';
import { HELD_SECONDS, stepAfter } from './verdict.ts';

/** What happens in an engine, for logs, metrics and alerts. */
export type EngineEvent =
  | { readonly kind: 'begun'; readonly job: JobData }
  /** A run ended; `summary` says how. */
  | { readonly kind: 'run ended'; readonly summary: SyncSummary }
  /** A run was cut into chunks, which all workers carry out. */
  | { readonly kind: 'shared'; readonly sync: string }
  | { readonly kind: 'waits'; readonly sync: string; readonly because: string; readonly seconds: number }
  /** A job that nothing but somebody's hand mends. */
  | { readonly kind: 'given up'; readonly job: JobData }
  /** The same, because its worker died, also when it was tried again. */
  | { readonly kind: 'lost'; readonly job: JobData; readonly because: string }
  /** The process of a run died, and no job continues it. */
  | { readonly kind: 'died'; readonly run: DiedRun }
  | { readonly kind: 'failed'; readonly job: JobData; readonly because: string };

export interface Handling {
  readonly it: Invocation;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  /** Most requests of a chunk; absent where nobody else can take part. */
  readonly chunkSize: number | undefined;
  readonly onEvent: (event: EngineEvent) => void;
  /** Fires when nothing new is to be begun. */
  readonly signal: AbortSignal;
}

/** Does a job and returns what became of it; a job that is stopped half-way goes back for another worker. */
export async function handle(handling: Handling, { data, signal, keep }: JobInHand): Promise<Outcome> {
  const either = AbortSignal.any([handling.signal, signal]);
  const { config } = handling.it;
  if (either.aborted) return backAgain(data);
  const definition = config.syncs.find(({ name }) => name === data.sync);
  if (!definition) return failed(handling, data, `the config names no sync ${data.sync}`);
  handling.onEvent({ kind: 'begun', job: data });
  await handling.it.checkClock();
  try {
    return data.kind === 'sync'
      ? ((await doneBefore(handling, data, keep)) ?? (await handleSync(handling, definition, data, either)))
      : await handleChunk(handling, definition, data, either);
  } catch (thrown) {
    const error = databaseTrouble(thrown);
    if (!(error instanceof SluiceError)) return failed(handling, data, String((error as Error).stack ?? error));
    if (data.kind === 'chunk' && error.exitCode !== EXIT.held) return failed(handling, data, error.message);
    return follow(handling, data, { exitCode: error.exitCode, because: error.message, next: error.next ?? null });
  }
}

/**
 * What follows from a run that this job came to before its worker died, or lost the database, and could not say so; undefined when there is
 * something to do. To run the sync once more would buy its answers once more.
 */
async function doneBefore(handling: Handling, data: SyncJob, keep: JobInHand['keep']): Promise<Outcome | undefined> {
  const { mark, exitCode, error: because, byChunk } = await newestRun(handling.it.warehouse, data.sync);
  if (data.since === undefined) {
    await keep({ ...data, since: mark });
    return undefined;
  }
  if (exitCode === null || mark === data.since) return undefined;
  return byChunk ? leftToOthers(handling, data) : follow(handling, data, { exitCode, because, next: null });
}

/**
 * The end of a job whose run others conclude. What follows from that run is theirs to see to; but as long as this job was
 * not settled they took the sync for busy, and left its children for whoever comes last.
 */
function leftToOthers({ it }: Handling, { sync }: JobData): Outcome {
  return { as: 'done', follows: (tx) => childrenOf(it, tx, sync, true) };
}

const childrenOf = async (
  { warehouse, config }: Invocation,
  tx: Tx,
  parent: string,
  onlyUnbegun = false,
): Promise<readonly NewJob[]> =>
  (await childrenToBegin(tx, warehouse, config.syncs, parent, onlyUnbegun)).map((name) => jobFor(syncJob(name)));

async function handleSync(
  handling: Handling,
  definition: SyncDefinition,
  data: SyncJob,
  signal: AbortSignal,
): Promise<Outcome> {
  const { it, jobs, chunkSize, onEvent } = handling;
  const { warehouse, config, effects } = it;
  const busy = await busySyncs(warehouse.db, warehouse);
  const parents = definition.after.filter((name) => busy.has(name));
  if (parents.length > 0) {
    onEvent({ kind: 'waits', sync: data.sync, because: `${parents.join(', ')} not done`, seconds: HELD_SECONDS });
    return again(data, HELD_SECONDS);
  }
  const tally = openTally();
  const summary = await runSync(
    it,
    {
      definition,
      options: { refresh: false, failOnTruncated: false },
      budget: await invocationBudget(warehouse, config.budget, undefined, effects),
      tally,
      spooled: await it.spools.waiting(),
      ...(chunkSize !== undefined && {
        sharing: {
          chunkSize,
          enqueue: (tx, orders) =>
            jobs.enqueue(
              orders.map((order) => ({
                queue: 'chunk',
                data: { kind: 'chunk', tries: data.tries, ...order, lost: [...order.lost] },
              })),
              tx,
            ),
        },
      }),
    },
    signal,
  );
  if (summary === 'shared') {
    onEvent({ kind: 'shared', sync: data.sync });
    return leftToOthers(handling, data);
  }
  onEvent({ kind: 'run ended', summary });
  if (signal.aborted && summary.exitCode === EXIT.transient) return backAgain(anew(data));
  if (!signal.aborted) await tidy(warehouse, tally, effects.onNotice);
  return follow(handling, data, endOf(summary));
}

async function handleChunk(
  handling: Handling,
  definition: SyncDefinition,
  data: ChunkJob,
  signal: AbortSignal,
): Promise<Outcome> {
  const end = await carryOutChunk(handling.it, definition, data, signal);
  switch (end.as) {
    case 'done':
    case 'void':
      return leftToOthers(handling, data);
    case 'stopped':
      return backAgain(data);
    case 'concluded': {
      if (end.summary) handling.onEvent({ kind: 'run ended', summary: end.summary });
      // What comes of a run comes of its sync.
      const told = end.summary ? endOf(end.summary) : { exitCode: end.exitCode, because: null, next: null };
      return follow(handling, syncJob(data.sync, data.tries), told);
    }
  }
}

interface End {
  readonly exitCode: number;
  readonly because: string | null;
  readonly next: string | null;
}

const endOf = ({ exitCode, error: because, next }: SyncSummary): End => ({ exitCode, because, next });

/** The job without what it knew of earlier runs: it is to run its sync, whatever became of these. */
const anew = ({ sync, tries }: SyncJob): SyncJob => syncJob(sync, tries);

/** What is entered after an end, together with it. */
function follow({ it, onEvent }: Handling, data: JobData, { exitCode, because, next }: End): Outcome {
  const step = stepAfter(exitCode, data.tries, it.effects.random);
  switch (step.do) {
    case 'rest':
      return { as: 'done' };
    case 'follow':
      return { as: 'done', follows: (tx) => childrenOf(it, tx, data.sync) };
    case 'again':
      onEvent({ kind: 'waits', sync: data.sync, because: because ?? 'trouble', seconds: step.afterSeconds });
      // Held by a run that an earlier worker of this job handed over in chunks, it is done when that is.
      const left = data.kind === 'sync' && exitCode !== EXIT.held ? anew(data) : data;
      return again({ ...left, tries: step.tries }, step.afterSeconds);
    case 'give up': {
      const job = { ...data, exitCode, next, ...(because !== null && { because }) };
      onEvent({ kind: 'given up', job });
      return { as: 'done', follows: async () => [{ queue: 'dead', data: job }] };
    }
  }
}

const jobFor = (data: JobData, afterSeconds?: number): NewJob => ({
  queue: data.kind,
  data,
  ...(afterSeconds !== undefined && { afterSeconds }),
});
const again = (data: JobData, afterSeconds: number): Outcome => ({
  as: 'done',
  follows: async () => [jobFor(data, afterSeconds)],
});
const backAgain = (data: JobData): Outcome => ({ as: 'done', follows: async () => [jobFor(data)] });

function failed({ onEvent }: Handling, job: JobData, because: string): Outcome {
  onEvent({ kind: 'failed', job, because });
  return { as: 'failed', because };
}
