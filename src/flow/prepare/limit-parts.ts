/** Cuts a plan at a limit of requests to send. Pure. */
import type { PlanPart } from './plan-part.ts';

/**
 * The parts with the first tasks of the plan. At most `limit` of them need a request, or needed one when a saved plan was
 * compared. The remaining parts are made too, so that a refused input beyond the limit is found; they are empty.
 */
export async function* limitParts(parts: AsyncIterable<PlanPart>, limit: number): AsyncGenerator<PlanPart> {
  let left = limit;
  for await (const part of parts) {
    const { fresh, givenUp, failing } = part.atHorizon ?? part;
    const needsRequest = ({ requestKey }: PlanPart['tasks'][number]): boolean =>
      !fresh.has(requestKey) && !givenUp.has(requestKey) && !failing.has(requestKey);
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
