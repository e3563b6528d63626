/** Records the plan of a new run in the ledger, part by part, with its chunks and its quote. */
import type { SyncDefinition } from '../../config/definition.ts';
import { planChunks } from '../../ledger/chunks.ts';
import { planRequests } from '../../ledger/requests/planned.ts';
import { type Run, setPlanned } from '../../ledger/runs.ts';
import type { QuotedPoints } from '../../ledger/summary.ts';
import { ChunkPlan } from '../../plan/chunks.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { QuestionTotals } from '../../plan/pricing/quote.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { allowSilence } from '../../warehouse/connect/idle-limit.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { openForecast } from '../forecast/pending.ts';
import { PlannedRequests } from '../forecast/planned-requests.ts';
import { assertSameRequests, type ExpectedPlan } from '../saved-plan/expected-plan.ts';
import type { PlanPart } from './plan-part.ts';
import type { SyncPlan } from './plan-sync.ts';

export interface RecordedPlan {
  readonly quote: QuotedPoints;
  /** The sums over the parts, see `PlanPart`. */
  readonly covered: number;
  readonly reliedInputs: readonly RequestBody[];
  readonly forgotten: number;
  readonly leftOut: number;
}

export interface RecordPlanOptions {
  readonly definition: SyncDefinition;
  readonly plan: SyncPlan;
  readonly prices: PriceBook;
  readonly now: Date;
  /** Most requests that the run sends; absent, there is no limit. */
  readonly limit: number | undefined;
  /** Most requests of a chunk; absent, the run has no chunks. */
  readonly chunkSize: number | undefined;
  /** The saved plan that the run must have; absent, any plan is recorded. */
  readonly expected?: ExpectedPlan | undefined;
}

/**
 * Records the plan. Use the transaction that creates the run, so that no run is planned partly. Throws a UsageError for a
 * plan other than the expected one.
 */
export async function recordPlan(
  ops: Ops,
  run: Run,
  { definition, plan, prices, now, limit, chunkSize, expected }: RecordPlanOptions,
): Promise<RecordedPlan> {
  // A part without requests to record sends no statement, and all of a million inputs may be in such parts.
  await allowSilence(ops);
  const forecast = await openForecast(ops, definition, now);
  const totals = new QuestionTotals(limit);
  const compare = expected && (await openComparison(ops, definition, now, expected));
  const chunks = chunkSize === undefined ? undefined : new ChunkPlan(chunkSize);
  const reliedInputs: RequestBody[] = [];
  let [covered, forgotten, leftOut] = [0, 0, 0];
  let recording: Promise<unknown> = Promise.resolve();
  try {
    for await (const part of plan.parts(ops)) {
      covered += part.covered.length;
      forgotten += part.forgotten;
      leftOut += part.leftOut ?? 0;
      for (const input of part.reliedInputs) reliedInputs.push(input);
      const pending = await forecast(part);
      for (const question of pending) totals.add(question);
      await compare?.add(part);
      await recording;
      // The next part is planned while the database executes this statement.
      recording = planRequests(ops, run, part.tasks, {
        at: now,
        freshAnswers: part,
        chunks: chunks?.assign(part.tasks, (key) => part.fresh.has(key) || part.failing.has(key)),
      });
      // The error is thrown where the promise is awaited.
      recording.catch(() => undefined);
    }
  } finally {
    // If this statement failed, its error is the cause of the others in the transaction, so it is the one to throw.
    await recording;
  }
  compare?.end();
  if (chunks && chunks.sizes.length > 0) await planChunks(ops, run.id, chunks.sizes);
  const quote = { requests: totals.openRequests, ...totals.points(prices) };
  await setPlanned(ops, run.id, { quote, covered });
  return { quote, covered, reliedInputs, forgotten, leftOut };
}

/** Compares the parts of a plan, as they were before this invocation bought answers, with the saved plan. */
async function openComparison(ops: Ops, definition: SyncDefinition, now: Date, expected: ExpectedPlan) {
  const planned = new PlannedRequests(definition);
  const forecast = await openForecast(ops, definition, now, expected.horizon);
  return {
    add: async (part: PlanPart): Promise<void> => {
      const before = { ...part, ...part.atHorizon };
      planned.add(before, await forecast(before));
    },
    end: (): void => assertSameRequests(expected, planned),
  };
}
