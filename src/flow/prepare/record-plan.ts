/** Records the plan of a new run in the ledger, part by part, with its chunks and its quote. */
import type { SyncDefinition } from '../../config/definition.ts';
import { planChunks } from '../../ledger/chunks.ts';
import { planRequests } from '../../ledger/requests.ts';
import { type Run, setQuote } from '../../ledger/runs.ts';
import type { QuotedPoints } from '../../ledger/summary.ts';
import { ChunkPlan } from '../../plan/chunks.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { QuestionTotals } from '../../plan/pricing/quote.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { openForecast } from '../forecast/pending.ts';
import type { SyncPlan } from './plan-sync.ts';

export interface RecordedPlan {
  readonly quote: QuotedPoints;
  /** The sums over the parts, see `PlanPart`. */
  readonly covered: number;
  readonly reliedInputs: readonly RequestBody[];
  readonly forgotten: number;
}

export interface RecordPlanOptions {
  readonly definition: SyncDefinition;
  readonly plan: SyncPlan;
  readonly prices: PriceBook;
  readonly now: Date;
  /** Most requests of a chunk; absent, the run has no chunks. */
  readonly chunkSize: number | undefined;
}

/** Records the plan. Use the transaction that creates the run, so that no run is planned partly. */
export async function recordPlan(
  ops: Ops,
  run: Run,
  { definition, plan, prices, now, chunkSize }: RecordPlanOptions,
): Promise<RecordedPlan> {
  const forecast = await openForecast(ops, definition, now);
  const totals = new QuestionTotals();
  const chunks = chunkSize === undefined ? undefined : new ChunkPlan(chunkSize);
  const reliedInputs: RequestBody[] = [];
  let [covered, forgotten] = [0, 0];
  let recording: Promise<unknown> = Promise.resolve();
  for await (const part of plan.parts(ops)) {
    covered += part.covered;
    forgotten += part.forgotten;
    for (const input of part.reliedInputs) reliedInputs.push(input);
    for (const question of await forecast(part)) totals.add(question);
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
  await recording;
  if (chunks && chunks.sizes.length > 0) await planChunks(ops, run.id, chunks.sizes);
  const quote = { requests: totals.openRequests, ...totals.points(prices) };
  await setQuote(ops, run.id, quote);
  return { quote, covered, reliedInputs, forgotten };
}
