/** The requests of a plan as two sets of constant size: all of them, and those to send. */
import type { SyncDefinition } from '../../config/definition.ts';
import { RequestSet } from '../../plan/saved/request-set.ts';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { requestKeyOf } from '../../service/request-key.ts';
import { filtersText } from '../../text/filters.ts';
import type { PendingQuestion, PlanToAsk } from './pending.ts';

/**
 * True if this stored answer serves a request of a plan that was made when the answer `horizon` was the newest; undefined
 * for a plan that is made now.
 */
export const isServedBy = (answer: string | undefined, horizon: string | undefined): boolean =>
  answer !== undefined && (horizon === undefined || BigInt(answer) <= BigInt(horizon));

/** Adds up the parts of a plan. */
export class PlannedRequests {
  readonly all = new RequestSet();
  readonly toSend = new RequestSet();
  readonly #definition: Pick<SyncDefinition, 'endpoint' | 'request'>;
  readonly #horizon: string | undefined;

  /**
   * `horizon` is the id of an answer: requests that a newer one serves count as requests to send, because the plan was
   * made before that answer.
   */
  constructor(definition: Pick<SyncDefinition, 'endpoint' | 'request'>, horizon?: string) {
    this.#definition = definition;
    this.#horizon = horizon;
  }

  /** Adds a part, with its questions that need requests. */
  add(part: PlanToAsk, pending: readonly PendingQuestion[]): void {
    for (const task of part.tasks) {
      this.all.add(task.requestKey, () => this.#textOf(task.body));
      if (!this.#isServed(part, task) && !part.givenUp.has(task.requestKey) && !part.failing.has(task.requestKey))
        this.toSend.add(task.requestKey, () => this.#textOf(task.body));
    }
    // A stored answer that is full leads to parts that no answer serves.
    for (const { open } of pending.filter((it) => this.#isServed(part, it.task)))
      for (const request of open)
        this.toSend.add(requestKeyOf(this.#definition.endpoint.name, request), () => this.#textOf(request));
  }

  #isServed({ fresh }: PlanToAsk, { requestKey }: Task): boolean {
    return isServedBy(fresh.get(requestKey), this.#horizon);
  }

  /** The fields that the config does not set for all requests. */
  #textOf(body: RequestBody): string {
    return filtersText(
      Object.fromEntries(Object.entries(body).filter(([name]) => !(name in this.#definition.request))),
    );
  }
}
