/** Cuts a plan at a limit of requests to send. Pure. */
import { isServedBy } from '../forecast/planned-requests.ts';
import type { PlanPart } from './plan-part.ts';

/**
 * The parts with the first tasks of the plan. At most `limit` of them need a request, or needed one at the `horizon` of a
 * saved plan. The remaining parts are made too, so that a refused input beyond the limit is found; they are empty.
 */
export async function* limitParts(
  parts: AsyncIterable<PlanPart>,
  limit: number,
  horizon?: string,
): AsyncGenerator<PlanPart> {
  let left = limit;
  for await (const part of parts) {
    const needsRequest = ({ requestKey }: PlanPart['tasks'][number]): boolean =>
      !isServedBy(part.fresh.get(requestKey), horizon) &&
      !part.givenUp.has(requestKey) &&
      !part.failing.has(requestKey);
    // After the limit, not even tasks that stored answers serve belong to the sample.
    let end = left > 0 ? part.tasks.length : 0;
    for (const [at, task] of part.tasks.entries()) {
      if (at >= end || !needsRequest(task)) continue;
      if (left === 0) end = at;
      else left -= 1;
    }
    yield { ...part, tasks: part.tasks.slice(0, end), leftOut: part.tasks.length - end };
  }
}
