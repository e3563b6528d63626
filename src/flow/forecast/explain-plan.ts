/** Explains a plan: why each request is sent or not, and where its max_age comes from. */
import type { SyncDefinition } from '../../config/definition.ts';
import { readAnswerHistories } from '../../ledger/fresh-answers.ts';
import { receivedAtOf } from '../../ledger/answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { PlanOptions } from '../prepare/plan-hash.ts';
import type { PlanPart } from '../prepare/plan-part.ts';
import { planSync } from '../prepare/plan-sync.ts';
import { openForecast } from './pending.ts';

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
  /** Receipt of the answer that serves; null without one, also if the answers to its parts serve. */
  readonly answeredAt: string | null;
  /** The answers that a learned age comes from; null if the age is fixed or the request has fewer than two. */
  readonly learnedFrom: { readonly answers: number; readonly changes: number } | null;
}

/** The requests of a sync, explained; at most `most`, with the number of the others. */
export interface ExplainedSync {
  readonly requests: readonly ExplainedRequest[];
  readonly more: number;
}

/**
 * Explains the requests that a new run of a sync would send now, and those that it would not. An input of a window whose days
 * are all served has no request; it is listed by itself. Instead of a question that
 * is split it has the parts, and after a full stored answer the parts to send. Throws a UsageError for inputs that fail.
 */
export async function explainPlan(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<ExplainedSync> {
  const ops = operationsOf(warehouse);
  const { parts, maxAgeOf } = await planSync(warehouse, definition, options, now);
  const histories = definition.autoAge ? await readAnswerHistories(ops, definition.endpoint.name) : undefined;
  const forecast = await openForecast(ops, definition, now);
  const requests: ExplainedRequest[] = [];
  let [more, mayBeSent] = [0, options.limit ?? Number.POSITIVE_INFINITY];
  for await (const part of parts(ops)) {
    const { fresh, failing, givenUp, covered } = part;
    requests.push(...covered.map((it) => coveredInput(definition.name, it, maxAgeOf)));
    const tasks = part.tasks.slice(0, Math.max(0, most - requests.length));
    more += part.tasks.length - tasks.length;
    const answerIds = tasks.flatMap(({ requestKey }) => fresh.get(requestKey) ?? []);
    const received = await receivedAtOf(ops, answerIds);
    const pending = await forecast({ ...part, tasks });
    const openByKey = new Map(pending.map(({ task, open }) => [task.requestKey, open]));
    for (const { requestKey, request, input } of tasks) {
      const answeredAt = received.get(fresh.get(requestKey) ?? '');
      const history = histories?.get(requestKey);
      const add = (body: RequestBody, decision: ExplainedRequest['decision']): unknown =>
        requests.push({
          sync: definition.name,
          input,
          request: body,
          decision,
          maxAgeMs: maxAgeOf(input)?.maxAgeMs ?? null,
          answeredAt: decision === 'fresh' ? (answeredAt?.toISOString() ?? null) : null,
          learnedFrom: history ? { answers: history.answers, changes: history.changes } : null,
        });
      const open = openByKey.get(requestKey) ?? [];
      if (failing.has(requestKey)) add(request, 'failing');
      else if (givenUp.has(requestKey)) add(request, 'given_up');
      else if (answeredAt || open.length === 0) add(request, 'fresh');
      for (const body of open.slice(0, mayBeSent)) add(body, 'send');
      mayBeSent = Math.max(0, mayBeSent - open.length);
    }
  }
  return { requests: requests.slice(0, most), more: more + Math.max(0, requests.length - most) };
}

const coveredInput = (
  sync: string,
  { input, asOf }: PlanPart['covered'][number],
  maxAgeOf: MaxAgeOf,
): ExplainedRequest => ({
  sync,
  input,
  request: input,
  decision: 'fresh',
  maxAgeMs: maxAgeOf(input)?.maxAgeMs ?? null,
  answeredAt: asOf,
  learnedFrom: null,
});
