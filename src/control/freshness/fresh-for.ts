/** Which requests of a plan are served by stored answers, and which are not asked for now. */
import { freshAnswersByKey, receivedWithin } from '../../ledger/fresh-answers.ts';
import type { AnswerAvailability } from '../../ledger/requests.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { failingRequests } from '../../ledger/unreadable-answers.ts';
import type { MaxAgeOf } from './max-age.ts';
import type { Task } from '../../plan/task.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { freshAnswersByName } from './freshness.ts';

/**
 * What stored answers mean for these tasks: which of them one serves that is fresh enough, to the same request or about the
 * same entity, and which are asked no more for now because their last answers could not be read.
 */
export async function freshFor(
  ops: Ops,
  endpoint: Endpoint,
  tasks: readonly Task[],
  maxAgeOf: MaxAgeOf,
  now: Date,
): Promise<AnswerAvailability> {
  const asked = tasks.flatMap(({ requestKey, request, input }) => {
    const maxAgeMs = maxAgeOf(input);
    return maxAgeMs === undefined ? [] : [{ requestKey, request, ...receivedWithin(maxAgeMs, now) }];
  });
  const exact = await freshAnswersByKey(ops, asked);
  const known = await freshAnswersByName(
    ops,
    endpoint,
    asked.filter(({ requestKey }) => !exact.has(requestKey)),
  );
  const fresh = new Map([...exact, ...known]);
  const failing = await failingRequests(
    ops,
    asked.filter(({ requestKey }) => !fresh.has(requestKey)),
  );
  return { fresh, failing };
}
