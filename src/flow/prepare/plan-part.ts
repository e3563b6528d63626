/** A part of a plan, what all parts of a plan depend on, and the cut of a plan at a limit. */
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { RepeatedlyUnreadable } from '../../ledger/failures/repeatedly-unreadable.ts';
import type { Watermarks } from '../../ledger/watermarks.ts';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { PlanOptions } from './plan-hash.ts';

export interface PlanPart {
  /** The tasks of these inputs, without those of earlier parts. */
  readonly tasks: readonly Task[];
  /** The stored answer that serves a request, by request key. */
  readonly fresh: ReadonlyMap<string, string>;
  /** Keys of requests that are not sent again, because three invocations got no answer. */
  readonly givenUp: ReadonlySet<string>;
  /** Requests that are not sent now because their last answers were unreadable, by request key. */
  readonly failing: ReadonlyMap<string, RepeatedlyUnreadable>;
  /** Inputs whose complete window was requested within `max_age`, so they need no request, each with the time of that. */
  readonly covered: readonly { readonly input: RequestBody; readonly asOf: string }[];
  /** Inputs whose windows an earlier run requested at least partly, so they rely on its answers. */
  readonly reliedInputs: readonly RequestBody[];
  /** Number of requests left out because they name a forgotten entity. */
  readonly forgotten: number;
  /** Number of requests left out because of the limit; absent without a limit. */
  readonly leftOut?: number;
  readonly maxAgeOf: MaxAgeOf;
  /** The same at the horizon of a saved plan; absent for a plan that is made now. */
  readonly atHorizon?: Pick<PlanPart, 'fresh' | 'givenUp' | 'failing'>;
}

export interface PartContext {
  readonly options: PlanOptions;
  readonly watermarks: Watermarks;
  /** The runs whose failed requests the plan repeats. */
  readonly failedRuns?: readonly string[] | undefined;
  readonly maxAgeOf: MaxAgeOf;
  readonly now: Date;
  /** The UTC day of `now`. */
  readonly today: string;
}

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
