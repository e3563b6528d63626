/** Plans a run and records it in the ledger, or continues a run that was interrupted. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { SyncDefinition } from '../../config/definition.ts';
import { planChunks } from '../../ledger/chunks.ts';
import { forgetLosses } from '../../ledger/lost-answers.ts';
import { freshAnswersByKey, type Received } from '../../ledger/fresh-answers.ts';
import { planRequests } from '../../ledger/requests.ts';
import { readWatermarks } from '../../ledger/watermarks.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type SpoolPlace, continueRun, createRun, type NewRun, type Run } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import { chunksOf } from '../../plan/chunks.ts';
import type { Input } from '../../plan/input-row.ts';
import { readInputs } from '../../plan/inputs.ts';
import { type MaxAgeOf, maxAgesOf, mayHaveInputAges } from '../../control/freshness/max-age.ts';
import { planTasks } from '../../plan/plan.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { questionsQuoteOf } from '../../plan/pricing/quote.ts';
import type { Task } from '../../plan/task.ts';
import { UsageError } from '../../errors.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { readOnlyQuery } from '../../warehouse/connect/query.ts';
import { asksForForgotten } from '../../normalize/erasure/redact-request.ts';
import { readForgotten } from '../erasure/store.ts';
import type { FailingRequest } from '../../ledger/unreadable-answers.ts';
import { freshFor } from '../../control/freshness/fresh-for.ts';
import { type LostByRequest, givenUpRequests, readLostByRequest } from './lost-by-request.ts';
import { alsoContinued, asksForDays, planHash, type PlanOptions, refreshHash } from './plan-hash.ts';
import { LOG_WATERMARK, logMark } from './move-watermarks.ts';
import { pendingQuestions } from '../forecast/pending.ts';
import { type MissingSpools, missingSpoolError } from '../../recovery/spool/find-spools.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import {
  isCovered,
  reachedDay,
  slicesToRetry,
  parseWindowWatermark,
  windowWatermarkName,
  withoutOverlap,
} from './window-watermark.ts';

/** The tasks of a sync at this time. */
export interface SyncPlan {
  readonly tasks: readonly Task[];
  /** The stored answer that serves a request, by request key. */
  readonly fresh: ReadonlyMap<string, string>;
  /** Keys of requests that are not sent again, because three invocations got no answer. */
  readonly givenUp: ReadonlySet<string>;
  /** Requests that are not sent now because their last answers were unreadable, by request key. */
  readonly failing: ReadonlyMap<string, FailingRequest>;
  /** Number of inputs whose complete window was requested within `max_age`, so they need no request. */
  readonly covered: number;
  /** Inputs whose windows an earlier run requested at least partly, so they rely on its answers. */
  readonly reliedInputs: readonly RequestBody[];
  /** Number of requests left out because they name a forgotten entity. */
  readonly forgotten: number;
  readonly maxAgeOf: MaxAgeOf;
}

/** Plans a sync; spends nothing. Throws a UsageError for inputs that violate the contract. */
export async function planSync(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  now: Date,
): Promise<SyncPlan> {
  const ops = operationsOf(warehouse);
  const inputs = await inputsOf(warehouse, definition);
  const maxAgeOf = options.refresh ? neverFresh : maxAgesOf(definition, inputs);
  const marks = await readWatermarks(ops, definition.name);
  const { tasks, readSince, covered, reliedInputs } = tasksOf(definition, inputs, { options, maxAgeOf, marks, now });
  const forgotten = await readForgotten(ops);
  const planned = tasks.filter(
    ({ request }) => forgotten === undefined || !asksForForgotten(definition.endpoint, request, forgotten),
  );
  const stored = await freshFor(ops, definition.endpoint, planned, maxAgeOf, now);
  const fresh = new Map([
    ...(options.refresh ? [] : await freshAnswersByKey(ops, readSince, { withMissing: false })),
    ...stored.fresh,
  ]);
  const lost: LostByRequest = options.refresh
    ? new Map()
    : await readLostByRequest(ops, definition, planHash(definition, options));
  return {
    tasks: planned,
    fresh,
    givenUp: givenUpRequests(planned, lost, fresh),
    failing: stored.failing,
    covered,
    reliedInputs,
    forgotten: tasks.length - planned.length,
    maxAgeOf,
  };
}

interface TasksContext {
  readonly options: PlanOptions;
  readonly maxAgeOf: MaxAgeOf;
  /** Watermarks of the sync, by name. */
  readonly marks: ReadonlyMap<string, string>;
  readonly now: Date;
}

interface PlannedTasks extends Pick<SyncPlan, 'tasks' | 'covered' | 'reliedInputs'> {
  /** Slices that could not be read before: an answer received since serves, however old it is. */
  readonly readSince: readonly ({ readonly requestKey: string } & Received)[];
}

/** The tasks of all inputs, each once: what is new since their watermarks, and slices that could not be read before. */
function tasksOf(definition: SyncDefinition, inputs: readonly Input[], context: TasksContext): PlannedTasks {
  const tasks = new Map<string, Task>();
  const readSince: ({ readonly requestKey: string } & Received)[] = [];
  const reliedInputs: RequestBody[] = [];
  let covered = 0;
  for (const { fields: input } of inputs) {
    const { isRelied, isCovered: isDone, retried, rest } = tasksOfInput(definition, input, context);
    if (isRelied) reliedInputs.push(input);
    if (isDone) covered += 1;
    // A slice that was read since, for example by a replay, is not requested again. Status 412 says nothing about a slice.
    for (const { task, asOf } of retried)
      readSince.push({ requestKey: task.requestKey, since: new Date(asOf), until: latestKnown(context.now) });
    for (const task of [...retried.map((slice) => slice.task), ...rest])
      if (!tasks.has(task.requestKey)) tasks.set(task.requestKey, task);
  }
  return { tasks: [...tasks.values()], readSince, covered, reliedInputs };
}

interface InputTasks extends ReturnType<typeof withoutOverlap> {
  /** Answers of earlier runs stand for the input. */
  readonly isRelied: boolean;
  /** Nothing is requested for the input. */
  readonly isCovered: boolean;
}

function tasksOfInput(
  definition: SyncDefinition,
  input: RequestBody,
  { options: { from, to }, maxAgeOf, marks, now }: TasksContext,
): InputTasks {
  const today = now.toISOString().slice(0, 10);
  const mark = parseWindowWatermark(marks.get(windowWatermarkName(definition, input)), definition, now);
  // A backfill requests its days whatever earlier runs requested.
  const isBackfill = from !== undefined || to !== undefined;
  const relied = isBackfill ? undefined : mark;
  const isDone = relied !== undefined && isCovered(definition, maxAgeOf(input), relied, { today, now });
  const unread = relied ? slicesToRetry(definition, input, relied) : [];
  const lastCompleteDay = relied ? reachedDay(relied) : mark?.lastCompleteDay;
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const facts = { today, lastCompleteDay, logWatermark: logMark(marks.get(LOG_WATERMARK), now), ...range };
  const windows = isDone ? [] : planTasks(definition, [input], facts);
  return {
    isRelied: relied !== undefined,
    isCovered: isDone && unread.length === 0,
    ...withoutOverlap(definition, unread, windows),
  };
}

const inputsOf = (warehouse: Warehouse, definition: SyncDefinition): Promise<Input[]> =>
  readInputs(definition, {
    readFile: (path) => readFile(path, 'utf8'),
    query: async (text) => (await readOnlyQuery(warehouse, text)).rows,
  });

/** No answer is fresh. */
const neverFresh: MaxAgeOf = () => undefined;

/** The maximum ages for a continued run. Inputs may set them, and the ledger does not store them. */
export async function rereadMaxAges(
  warehouse: Warehouse,
  definition: SyncDefinition,
  run: Pick<Run, 'definitionHash'>,
  range: Pick<PlanOptions, 'from' | 'to'> = {},
): Promise<MaxAgeOf> {
  if (run.definitionHash === refreshHash(definition, range)) return neverFresh;
  if (!mayHaveInputAges(definition)) return () => definition.maxAgeMs;
  try {
    return maxAgesOf(definition, await inputsOf(warehouse, definition));
  } catch (error) {
    // The plan is valid without its inputs, but the ages that they set are unknown.
    if (error instanceof UsageError) return neverFresh;
    throw error;
  }
}

export interface PreparedRun {
  readonly run: Run;
  /** Number of inputs that needed no request, see `SyncPlan`. */
  readonly covered: number;
  /** See `SyncPlan`; undefined for a continued run, whose plan was made before. */
  readonly reliedInputs: readonly RequestBody[] | undefined;
  /** See `SyncPlan`; 0 for a continued run. */
  readonly forgotten: number;
  readonly maxAgeOf: MaxAgeOf;
}

/** The inputs for preparing a run. */
export interface PrepareOptions extends RetryEffects {
  readonly options: PlanOptions;
  readonly holder: string;
  readonly startedAt: Date;
  /** The prices for the quote of a new run. */
  readonly prices: PriceBook;
  /** Most requests of a chunk if other workers may take part in a new run; absent, the run has no chunks. */
  readonly chunkSize?: number;
  /** Open runs of the sync with spools that cannot be found. */
  readonly missing?: readonly MissingSpools[];
  /** The spool of this process. */
  readonly ownSpool?: SpoolPlace;
  /** Called with requests of abandoned runs that may have been charged without an answer. */
  readonly onLost: (requestId: string) => void;
}

/** The notice that requests were left out because they name a forgotten entity. */
export const forgottenNotice = (sync: string, count: number): Notice => ({
  level: 'info',
  sync,
  message: `requests left out because they name a forgotten entity: ${count}`,
});

/**
 * Returns the run to execute: an open one, or a new one with its complete plan in the ledger and a quote. Throws a
 * TransientError if a spool that may hold answers of the open run cannot be found.
 */
export async function prepareRun(
  warehouse: Warehouse,
  definition: SyncDefinition,
  { options, holder, startedAt: now, prices, chunkSize, missing = [], ownSpool, onLost, ...retry }: PrepareOptions,
): Promise<PreparedRun> {
  const request = {
    sync: definition.name,
    endpoint: definition.endpoint.name,
    definitionHash: planHash(definition, options),
    asksForDays: asksForDays(definition),
    holder,
    now,
  };
  const inTransaction = <T>(work: (ops: Ops) => Promise<T>): Promise<T> =>
    warehouse.db.transaction().execute((tx) => work(operationsOf({ db: tx, ops: warehouse.ops })));
  const otherHashes = alsoContinued(definition, options);
  // Kept across retries of the commit: a repeated attempt finds nothing left to abandon.
  const lost = new Set<string>();
  const open = await retryTransient(
    () =>
      inTransaction(async (ops) => {
        const found = await continueRun(ops, request, otherHashes, (runId) => {
          const held = missing.find((it) => it.runId === runId);
          if (held) throw missingSpoolError(definition.name, held);
        });
        for (const id of found.lost) lost.add(id);
        return found.run;
      }),
    retry,
  );
  lost.forEach(onLost);
  if (open) {
    const maxAgeOf = await retryTransient(() => rereadMaxAges(warehouse, definition, open, options), retry);
    return { run: open, covered: 0, reliedInputs: undefined, forgotten: 0, maxAgeOf };
  }
  const plan = await retryTransient(() => planSync(warehouse, definition, options, now), retry);
  const settled = new Map<string, unknown>([...plan.fresh, ...plan.failing]);
  const questions = await retryTransient(() => pendingQuestions(operationsOf(warehouse), definition, plan, now), retry);
  // A walk sends one request at a time.
  const isWalk = definition.endpoint.paging.by === 'cursor';
  const chunks = chunkSize === undefined || isWalk ? undefined : chunksOf(plan.tasks, settled, chunkSize);
  const requests = questions.reduce((sum, { open: first }) => sum + first.length, 0);
  const quoted = {
    ...request,
    spools: ownSpool ? [ownSpool] : [],
    quote: { requests, ...questionsQuoteOf(questions, prices) },
  };
  const run = await retryTransient(
    (failures) =>
      inTransaction(async (ops) => {
        const begun = failures === 0 ? undefined : await runBegun(ops, quoted);
        if (begun) return begun;
        const created = await createRun(ops, quoted);
        if (options.refresh) await forgetLosses(ops, definition.name);
        await planRequests(ops, created, plan.tasks, {
          at: now,
          freshAnswers: plan,
          ...(chunks && { chunks: chunks.chunkOf }),
        });
        if (chunks) await planChunks(ops, created.id, chunks.sizes);
        return created;
      }),
    retry,
  );
  const { covered, reliedInputs, forgotten, maxAgeOf } = plan;
  return { run, covered, reliedInputs, forgotten, maxAgeOf };
}

/** Finds the run that this holder created by a commit with a lost connection. */
async function runBegun(
  ops: Ops,
  { sync, endpoint, definitionHash, holder, now, quote }: NewRun,
): Promise<Run | undefined> {
  const begun = await ops
    .selectFrom('runs')
    .select('id')
    .where('sync', '=', sync)
    .where('holder', '=', holder)
    .where('started_at', '=', sql<Date>`${now.toISOString()}::timestamptz`)
    .executeTakeFirst();
  const startedAt = now.toISOString();
  if (!begun) return undefined;
  const today = startedAt.slice(0, 10);
  return { id: begun.id, definitionHash, sync, endpoint, today, startedAt, continued: false, quote: quote ?? null };
}
