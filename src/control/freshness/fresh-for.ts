/** Decides which requests of a plan stored answers serve, and which are not sent now. */
import { freshAnswersByKey, receivedWithin } from '../../ledger/fresh-answers.ts';
import type { AnswerAvailability } from '../../ledger/requests.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { failingRequests } from '../../ledger/unreadable-answers.ts';
import type { MaxAgeOf } from './max-age.ts';
import type { Task } from '../../plan/task.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { freshAnswersByName } from './freshness.ts';

/**
 * Returns what stored answers mean for these tasks. A fresh answer to the same request, or about the same entity,
 * serves a task. A task whose last answers were unreadable is not sent now.
 */
export async function freshFor(
  ops: Ops,
  endpoint: Endpoint,
  tasks: readonly Task[],
  maxAgeOf: MaxAgeOf,
  now: Date,
): Promise<AnswerAvailability> {
  const aged = tasks.flatMap(({ requestKey, request, input }) => {
    const maxAgeMs = maxAgeOf(input);
    return maxAgeMs === undefined ? [] : [{ requestKey, request, ...receivedWithin(maxAgeMs, now) }];
  });
  const exact = await freshAnswersByKey(ops, aged);
  const known = await freshAnswersByName(
    ops,
    endpoint,
    aged.filter(({ requestKey }) => !exact.has(requestKey)),
  );
  const fresh = new Map([...exact, ...known]);
  const failing = await failingRequests(
    ops,
    aged.filter(({ requestKey }) => !fresh.has(requestKey)),
  );
  return { fresh, failing };
}
