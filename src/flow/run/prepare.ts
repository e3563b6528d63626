/** Makes the plan of a run and enters it into the ledger, or takes up the run that was cut short. */
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

/** The tasks of a sync as of now. */
export interface SyncPlan {
  readonly tasks: readonly Task[];
  /** By request key, the stored answer that serves. */
  readonly fresh: ReadonlyMap<string, string>;
  /** Keys of requests that are not asked again, because no answer to them arrived in three invocations. */
  readonly givenUp: ReadonlySet<string>;
  /** By request key, what is not asked for now, since its last answers could not be read. */
  readonly failing: ReadonlyMap<string, FailingRequest>;
  /** Inputs whose window was asked whole within `max_age`: nothing new is asked for them. */
  readonly covered: number;
  /** Inputs of whose windows an earlier run asked the whole or a part, so that its answers stand for them. */
  readonly reliedInputs: readonly RequestBody[];
  /** Requests left out because they name what is forgotten. */
  readonly forgotten: number;
  readonly maxAgeOf: MaxAgeOf;
}

/** Plans a sync; spends nothing. Throws a UsageError for inputs that break the contract. */
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
    // A 412 says nothing about a slice.
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
  // A backfill asks for its days whatever was asked before.
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

/** Nothing is fresh. */
const neverFresh: MaxAgeOf = () => undefined;

/** The ages of a run whose plan was made before: the inputs may say them, and the ledger doesn't hold them. */
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
    // The plan stands without its inputs; what they allowed is not known any more.
    if (error instanceof UsageError) return neverFresh;
    throw error;
  }
}

export interface PreparedRun {
  readonly run: Run;
  /** Inputs that needed no question, see `SyncPlan`. */
  readonly covered: number;
  /** See `SyncPlan`; undefined of a run that is continued, whose plan was made before. */
  readonly reliedInputs: readonly RequestBody[] | undefined;
  /** See `SyncPlan`; 0 of a run that is continued. */
  readonly forgotten: number;
  readonly maxAgeOf: MaxAgeOf;
}

/** What a run begins with. */
export interface PrepareOptions extends RetryEffects {
  readonly options: PlanOptions;
  readonly holder: string;
  readonly startedAt: Date;
  /** What a new run is quoted by. */
  readonly prices: PriceBook;
  /** Most requests of a chunk, where others may take part in a new run; absent, it is not cut. */
  readonly chunkSize?: number;
  /** Open runs of the sync with spools that cannot be found. */
  readonly missing?: readonly MissingSpools[];
  /** The spool of this process. */
  readonly ownSpool?: SpoolPlace;
  /** Told of requests of runs given up that may have been paid for without an answer. */
  readonly onLost: (requestId: string) => void;
}

/** Tells how many requests were left out because they name what is forgotten. */
export const forgottenNotice = (sync: string, count: number): Notice => ({
  level: 'info',
  sync,
  message: `requests left out because they name what was forgotten: ${count}`,
});

/** The run to carry out: an open one continued, else a new one with its whole plan in the ledger, and quoted. */
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
  const within = <T>(work: (ops: Ops) => Promise<T>): Promise<T> =>
    warehouse.db.transaction().execute((tx) => work(operationsOf({ db: tx, ops: warehouse.ops })));
  const also = alsoContinued(definition, options);
  // Kept over a commit whose answer was lost: done again, it finds nothing to give up.
  const lost = new Set<string>();
  const open = await retryTransient(
    () =>
      within(async (ops) => {
        const found = await continueRun(ops, request, also, (runId) => {
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
  // A walk has one request at a time.
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
      within(async (ops) => {
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

/** The run that this holder began, when the answer to the commit was lost. */
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
