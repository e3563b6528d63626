/** The requests of a plan as two sets of constant size: all of them, and those to send. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { KeySet } from '../../plan/key-set.ts';
import { RequestSet } from '../../plan/saved/request-set.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { requestKeyOf } from '../../service/request-key.ts';
import { filtersText } from '../../text/filters.ts';
import type { PendingQuestion, PlanToAsk } from './pending.ts';

/** Adds up the parts of a plan. */
export class PlannedRequests {
  readonly all = new RequestSet();
  readonly toSend = new RequestSet();
  readonly #definition: Pick<SyncDefinition, 'endpoint' | 'request'>;
  /** The requests that earlier syncs of the plan send. Those of this sync are added. */
  readonly #sent: KeySet | undefined;
  #shared = 0;

  constructor(definition: Pick<SyncDefinition, 'endpoint' | 'request'>, sent?: KeySet) {
    this.#definition = definition;
    this.#sent = sent;
  }

  /** The number of requests to send that an earlier sync of the plan sends too. */
  get shared(): number {
    return this.#shared;
  }

  /** Adds a part, with its questions that need requests. */
  add(part: PlanToAsk, pending: readonly PendingQuestion[]): void {
    for (const task of part.tasks) {
      this.all.add(task.requestKey, () => this.#textOf(task.body));
      if (!part.fresh.has(task.requestKey) && !part.givenUp.has(task.requestKey) && !part.failing.has(task.requestKey))
        this.#addToSend(task.requestKey, task.body);
    }
    // A stored answer that is full leads to parts that no answer serves.
    for (const { open } of pending.filter((it) => part.fresh.has(it.task.requestKey)))
      for (const request of open) this.#addToSend(requestKeyOf(this.#definition.endpoint.name, request), request);
  }

  #addToSend(requestKey: string, body: RequestBody): void {
    this.toSend.add(requestKey, () => this.#textOf(body));
    if (this.#sent?.add(requestKey) === false) this.#shared += 1;
  }

  /** The fields that the config does not set for all requests. */
  #textOf(body: RequestBody): string {
    return filtersText(
      Object.fromEntries(Object.entries(body).filter(([name]) => !(name in this.#definition.request))),
    );
  }
}
