/** The plan of a sync: its tasks, and which of them stored answers serve. */
import { dayOf } from '../../day.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import { freshAnswersByKey, type ReceiptRange } from '../../ledger/fresh-answers.ts';
import { readWatermarks, type Watermarks } from '../../ledger/watermarks.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Input } from '../../plan/input-row.ts';
import { inputFiles } from '../../plan/input-files.ts';
import { type Inputs, openInputs } from '../../plan/inputs.ts';
import {
  agesOfSync,
  type MaxAgeOf,
  maxAgesOf,
  mayHaveInputAges,
  receivedAfter,
  sameAge,
} from '../../control/freshness/max-age.ts';
import { planTasks } from '../../plan/plan.ts';
import type { Task } from '../../plan/task.ts';
import { UsageError } from '../../errors.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { readOnlyQuery } from '../../warehouse/connect/query.ts';
import { mentionsForgotten } from '../../normalize/erasure/redact-request.ts';
import { readForgotten } from '../erasure/store.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import { type LostByRequest, givenUpRequests, readLostByRequest } from './lost-by-request.ts';
import { planHash, type PlanOptions, refreshHash } from './plan-hash.ts';
import { limitParts, type PartContext, type PlanPart } from './plan-part.ts';
import { logWatermark, sinceResets, watermarkOf, windowWatermarkNames } from './watermarks.ts';
import { KeySet } from '../../plan/key-set.ts';
import { failedParts, repeatedRuns } from './plan-failed.ts';
import { firstOfQuestion } from './unique-questions.ts';
import { isCovered, reachedDay, slicesToRetry, parseWindowWatermark, withoutOverlap } from './window-watermark.ts';

/** The plan of a sync at this time, in parts, so that a plan of any size needs the memory of one part. */
export interface SyncPlan {
  readonly maxAgeOf: MaxAgeOf;
  /**
   * The parts, made from the inputs' start each time. Throws a UsageError for inputs that violate the contract, after the
   * parts before the first such input.
   */
  readonly parts: (ops: Ops) => AsyncGenerator<PlanPart>;
}

/**
 * Plans a sync; spends nothing. Throws a UsageError for a query or a file of inputs that fails. Other watermarks than
 * those of the ledger show what a run would plan with them.
 */
export async function planSync(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  now: Date,
  assumed?: Watermarks,
): Promise<SyncPlan> {
  const inputs = await inputsOf(warehouse, definition, options.signal);
  const ops = operationsOf(warehouse);
  const watermarks = assumed ?? (await readWatermarks(ops, definition.name));
  const ages = async (): Promise<MaxAgeOf> =>
    sinceResets(definition, await maxAgesOf(definition, inputs, await agesOfSync(ops, definition)), watermarks);
  const maxAgeOf = options.refresh ? await agesOfRefresh(ages, options) : await ages();
  const failedRuns = options.failed ? await repeatedRuns(ops, definition, options) : undefined;
  const context = { options, watermarks, failedRuns, maxAgeOf, now, today: dayOf(now) };
  const planned = options.failed ? failedParts : planParts;
  const { limit } = options;
  const all = (ops: Ops) => planned(ops, definition, inputs, context);
  return { maxAgeOf, parts: limit === undefined ? all : (ops) => limitParts(all(ops), limit) };
}

async function* planParts(
  ops: Ops,
  definition: SyncDefinition,
  inputs: Inputs,
  context: PartContext,
): AsyncGenerator<PlanPart> {
  const { options, maxAgeOf, now } = context;
  const forgottenNames = await readForgotten(ops);
  const lost: LostByRequest = options.refresh
    ? new Map()
    : await readLostByRequest(ops, definition, planHash(definition, options));
  const seen = new KeySet();
  const isFirst = firstOfQuestion(definition);
  for await (const block of inputs.blocks()) {
    options.signal?.throwIfAborted();
    const { tasks, readSince, covered, reliedInputs } = tasksOf(definition, block, { ...context, seen, isFirst });
    const planned = tasks.filter(
      ({ request }) => forgottenNames === undefined || !mentionsForgotten(definition.endpoint, request, forgottenNames),
    );
    const servedAt = async (horizon?: string) => {
      const { invokedAt } = options;
      const stored = await freshFor(ops, definition.endpoint, planned, { maxAgeOf, now, invokedAt, horizon });
      const fresh = new Map([
        ...(options.refresh ? [] : await freshAnswersByKey(ops, readSince, { withMissing: false, horizon })),
        ...stored.fresh,
      ]);
      return { fresh, givenUp: givenUpRequests(planned, lost, fresh), failing: stored.failing };
    };
    yield {
      tasks: planned,
      ...(await servedAt()),
      ...(options.horizon !== undefined && { atHorizon: await servedAt(options.horizon) }),
      covered,
      reliedInputs,
      forgotten: tasks.length - planned.length,
      maxAgeOf,
    };
  }
}

interface TasksContext extends PartContext {
  /** Keys of the requests planned before. */
  readonly seen: KeySet;
  /** False for an input whose question an earlier input asks. */
  readonly isFirst: (input: RequestBody) => boolean;
}

interface PlannedTasks extends Pick<PlanPart, 'tasks' | 'covered' | 'reliedInputs'> {
  /** Slices that could not be read before: an answer received since serves, however old it is. */
  readonly readSince: readonly ({ readonly requestKey: string } & ReceiptRange)[];
}

/** The tasks of inputs, each once: what is new since their watermarks, and slices that could not be read before. */
function tasksOf(definition: SyncDefinition, inputs: readonly Input[], context: TasksContext): PlannedTasks {
  const tasks: Task[] = [];
  const readSince: ({ readonly requestKey: string } & ReceiptRange)[] = [];
  const reliedInputs: RequestBody[] = [];
  const covered: { input: RequestBody; asOf: string }[] = [];
  for (const { fields: input } of inputs) {
    if (!context.isFirst(input)) continue;
    const { isRelied, coveredAsOf, retried, rest } = tasksOfInput(definition, input, context);
    if (isRelied) reliedInputs.push(input);
    if (coveredAsOf !== undefined) covered.push({ input, asOf: coveredAsOf });
    // A slice that was read since, for example by a replay, is not requested again. Status 412 says nothing about a slice.
    for (const { task, asOf } of retried)
      readSince.push({ requestKey: task.requestKey, since: new Date(asOf), until: latestKnown(context.now) });
    for (const task of [...retried.map((slice) => slice.task), ...rest])
      if (context.seen.add(task.requestKey)) tasks.push(task);
  }
  return { tasks, readSince, covered, reliedInputs };
}

interface InputTasks extends ReturnType<typeof withoutOverlap> {
  /** The input relies on answers of earlier runs. */
  readonly isRelied: boolean;
  /** When the window was requested, if nothing is requested for the input now. */
  readonly coveredAsOf: string | undefined;
}

/** Returns what a run requests for one input: what is new since its watermark, and unreadable slices. */
export function tasksOfInput(
  definition: SyncDefinition,
  input: RequestBody,
  { options: { from, to }, maxAgeOf, watermarks, now, today }: PartContext,
): InputTasks {
  const watermark = definition.window
    ? parseWindowWatermark(watermarkOf(watermarks, windowWatermarkNames(definition, input)), definition, now)
    : undefined;
  // A backfill from a day requests its days whatever earlier runs requested.
  const isBackfill = from !== undefined || to !== undefined;
  const relied = isBackfill ? undefined : watermark;
  const isDone = relied !== undefined && isCovered(definition, maxAgeOf(input), relied, { today, now });
  const unread = relied ? slicesToRetry(definition, input, relied).within : [];
  const lastCompleteDay = relied ? reachedDay(relied) : watermark?.lastCompleteDay;
  const facts = {
    today,
    lastCompleteDay,
    logWatermark: logWatermark(definition, watermarks, now),
    from,
    to,
  };
  const windows = isDone ? [] : planTasks(definition, [input], facts);
  return {
    isRelied: relied !== undefined,
    coveredAsOf: isDone && unread.length === 0 ? relied.asOf : undefined,
    ...withoutOverlap(definition, unread, windows),
  };
}

/** Opens the inputs of a sync; see `openInputs`. Throws the reason of the signal if that aborts while a query runs. */
export const inputsOf = (warehouse: Warehouse, definition: SyncDefinition, signal?: AbortSignal): Promise<Inputs> =>
  openInputs(definition, {
    readFile: inputFiles(),
    query: async (text) => (await readOnlyQuery(warehouse, text, { ...(signal && { signal }) })).rows,
  });

const neverFresh: MaxAgeOf = () => undefined;

/** The maximum ages of a refresh: only an answer that another sync of the invocation got serves. */
const agesOfRefresh = async (
  ages: () => Promise<MaxAgeOf>,
  { invokedAt }: Pick<PlanOptions, 'invokedAt'>,
): Promise<MaxAgeOf> => (invokedAt ? receivedAfter(await ages(), () => invokedAt) : neverFresh);

/** The maximum ages for a continued run. Inputs may set them or answers teach them, and the ledger does not store them. */
export async function rereadMaxAges(
  warehouse: Warehouse,
  definition: SyncDefinition,
  run: Pick<Run, 'definitionHash'>,
  options: Omit<PlanOptions, 'refresh'> = {},
): Promise<MaxAgeOf> {
  if (run.definitionHash === refreshHash(definition, options)) return neverFresh;
  const ops = operationsOf(warehouse);
  const watermarks = await readWatermarks(ops, definition.name);
  if (!mayHaveInputAges(definition) && !definition.autoAge)
    return sinceResets(definition, sameAge(definition), watermarks);
  try {
    const maxAgeOf = await maxAgesOf(
      definition,
      await inputsOf(warehouse, definition, options.signal),
      await agesOfSync(ops, definition),
    );
    return sinceResets(definition, maxAgeOf, watermarks);
  } catch (error) {
    // The plan is valid without its inputs, but the ages that they set are unknown.
    if (error instanceof UsageError) return neverFresh;
    throw error;
  }
}
