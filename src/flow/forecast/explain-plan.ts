/** Explains a plan: why each request is sent or not, and where its max_age comes from. */
import type { SyncDefinition } from '../../config/definition.ts';
import { readAnswerHistories } from '../../ledger/fresh-answers.ts';
import { receivedAtOf } from '../../ledger/answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { PlanOptions } from '../prepare/plan-hash.ts';
import { planSync } from '../prepare/plan-sync.ts';

/** Why a request of a plan is sent or not. */
export interface ExplainedRequest {
  readonly sync: string;
  readonly input: RequestBody;
  readonly request: RequestBody;
  /**
   * `send`; `fresh` if a stored answer serves; `failing` if its answers were unreadable; `given_up` if three invocations
   * got no answer.
   */
  readonly decision: 'send' | 'fresh' | 'failing' | 'given_up';
  /** The greatest age of an answer that serves, in milliseconds; null if every run sends the request. */
  readonly maxAgeMs: number | null;
  /** Receipt of the answer that serves; null without one. */
  readonly answeredAt: string | null;
  /** The answers that a learned age comes from; null if the age is fixed or the request has fewer than two. */
  readonly learnedFrom: { readonly answers: number; readonly changes: number } | null;
}

/** The requests of a sync, explained; at most `most`, with the number of the others. */
export interface ExplainedSync {
  readonly requests: readonly ExplainedRequest[];
  readonly more: number;
}

/** Explains the requests that a new run of a sync would plan now. Throws a UsageError for inputs that fail. */
export async function explainPlan(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<ExplainedSync> {
  const ops = operationsOf(warehouse);
  const { parts, maxAgeOf } = await planSync(warehouse, definition, options, now);
  const histories = definition.autoAge ? await readAnswerHistories(ops, definition.endpoint.name) : undefined;
  const requests: ExplainedRequest[] = [];
  let more = 0;
  for await (const { tasks, fresh, failing, givenUp } of parts(ops)) {
    const shown = tasks.slice(0, most - requests.length);
    more += tasks.length - shown.length;
    const answerIds = shown.flatMap(({ requestKey }) => fresh.get(requestKey) ?? []);
    const received = await receivedAtOf(ops, answerIds);
    for (const { requestKey, request, input } of shown) {
      const answeredAt = received.get(fresh.get(requestKey) ?? '');
      const history = histories?.get(requestKey);
      requests.push({
        sync: definition.name,
        input,
        request,
        decision: failing.has(requestKey)
          ? 'failing'
          : givenUp.has(requestKey)
            ? 'given_up'
            : answeredAt
              ? 'fresh'
              : 'send',
        maxAgeMs: maxAgeOf(input)?.maxAgeMs ?? null,
        answeredAt: answeredAt?.toISOString() ?? null,
        learnedFrom: history ? { answers: history.answers, changes: history.changes } : null,
      });
    }
  }
  return { requests, more };
}
