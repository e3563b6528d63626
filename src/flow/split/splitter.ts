/**
 * Splits questions before they are sent. Each answered slice improves the estimate for its input's question, so a
 * planned request is checked again before it is sent. If its window would likely come back full, its parts are planned
 * instead. `follow-up.ts` plans what follows an answer, such as the parts of one that came back full.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { type DayRange, overlap } from '../../day.ts';
import { type InputSlices, readEarlierSlices } from '../../ledger/coverage.ts';
import { skipForSplit } from '../../ledger/requests/skip-for-split.ts';
import { assertLease } from '../../ledger/lease.ts';
import { type LedgerRequest, planRequests } from '../../ledger/requests/planned.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { taskOf } from '../../plan/plan.ts';
import type { Task } from '../../plan/task.ts';
import { asksForPseudonym } from '../../service/names/forgotten.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { isAllowed } from '../../service/window/allowance.ts';
import { Evidence, windowOf } from '../../service/window/evidence.ts';
import { canonicalRequest } from '../../service/request-key.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { type Follow, isFull, type PageStep, type FollowOptions } from '../../service/paging.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import type { RunContext } from '../run/run-context.ts';
import { retryTransaction } from '../../warehouse/connect/retry-transient.ts';

/** Send a request, replace it by parts, or wait for requests of its question that are in flight. */
export type SplitDecision =
  | { readonly do: 'send' }
  | { readonly do: 'split'; readonly parts: Follow }
  | { readonly do: 'wait'; readonly until: Promise<void> };

/** The service does not know the pseudonym that parts would ask for. */
const FORGOTTEN = 'as many items as requested, and the request names a forgotten entity';
const NOT_ALLOWED = 'as many items as requested, and its parts would take more requests than its days and facets need';

/** They are read newest first. */
const MOST_EARLIER_SLICES = 20_000;
/** They are kept in memory, by last use: about 20 kB each. */
const MOST_QUESTIONS = 10_000;

type SplitDefinition = Pick<SyncDefinition, 'endpoint' | 'request' | 'window' | 'splitBy' | 'raiseCountTo'>;

interface QuestionState {
  readonly evidence: Evidence;
  /** Number of answers learned from. */
  answers: number;
  /** Answers of this run that were not full, and the sum of their shares of items in the requested count. */
  readonly roomy: { answers: number; filled: number };
  /** The days of the slices in flight, as numbers. */
  readonly inFlight: Set<DayRange>;
  /** Resolves when a request in flight ends. */
  change: PromiseWithResolvers<void>;
}

/** Creates the splitter of a run, with the slices of earlier runs of its sync as evidence. */
export async function openSplitter(ops: Ops, definition: SyncDefinition): Promise<Splitter> {
  const { name, endpoint } = definition;
  const earlier = endpoint.paging.days ? await readEarlierSlices(ops, name, endpoint.name, MOST_EARLIER_SLICES) : [];
  return new Splitter(definition, earlier);
}

/** The estimates for the questions of a run; it starts with the evidence of earlier slices. */
export class Splitter {
  readonly #definition: SplitDefinition;
  /** The most recently used questions. */
  readonly #questions = new Map<string, QuestionState>();

  constructor(definition: SplitDefinition, earlier: readonly InputSlices[]) {
    this.#definition = definition;
    for (const { input, slices } of earlier) {
      // An earlier input may no longer be valid.
      const isValid = definition.endpoint.request.safeParse({ ...definition.request, ...input }).success;
      const question = isValid ? this.#begin(input) : undefined;
      for (const slice of slices) question?.evidence.learnEarlier(slice);
      if (question) question.answers += slices.length;
    }
  }

  /** False if every request is sent as planned. */
  get maySplit(): boolean {
    return this.#definition.endpoint.paging.days !== undefined;
  }

  /** Returns the options for following a full answer to an input's question. */
  followOptionsFor(input: RequestBody): FollowOptions {
    const { window, splitBy, raiseCountTo } = this.#definition;
    const question = this.#find(input);
    const evidence = question?.evidence;
    return { window, splitBy, raiseCountTo, evidence, isMisled: question !== undefined && isMisled(question) };
  }

  /** Returns what follows a learned answer: nothing, or parts that are allowed no more requests than their question. */
  followOf(input: RequestBody, step: PageStep): Follow {
    if (isFull(step) && asksForPseudonym(step.request)) return { requests: [], lowerBound: FORGOTTEN };
    const { paging } = this.#definition.endpoint;
    const options = this.followOptionsFor(input);
    const follow = paging.follow([step], options);
    return isAllowed(paging, { request: step.request, isAsked: true }, follow.requests, options)
      ? follow
      : { requests: [], lowerBound: NOT_ALLOWED };
  }

  /** Learns from an answer, before its follow-up requests are planned. Questions that fit one answer are not kept. */
  learn(input: RequestBody, step: PageStep): void {
    const question = isFull(step) ? this.#begin(input) : this.#find(input);
    if (!question) return;
    const { request, items } = step;
    question.evidence.learn({ request, items, returned: items.length, full: isFull(step) });
    question.answers += 1;
    if (isFull(step)) return;
    question.roomy.answers += 1;
    question.roomy.filled += items.length / Number(request['count']);
  }

  /** Records the parts that followed an answer or replaced a question. */
  recordSplit(input: RequestBody, { request, items }: PageStep, parts: readonly RequestBody[]): void {
    this.#find(input)?.evidence.recordSplit({ request, returned: items.length }, parts);
  }

  /** Decides whether to send, split or delay a request. */
  decide({ input, request, attempts }: Pick<LedgerRequest, 'input' | 'request' | 'attempts'>): SplitDecision {
    const { paging } = this.#definition.endpoint;
    const question = this.#find(input);
    const options = this.followOptionsFor(input);
    // A request that was sent may have been answered, so it is not replaced by its parts.
    const parts = question && attempts === 0 ? paging.splitBefore?.(request, options) : undefined;
    if (!question || !parts) return { do: 'send' };
    if (!isAllowed(paging, { request, isAsked: false }, parts.requests, options)) return { do: 'send' };
    return isEarly(question, paging.days && windowOf(request, paging.days))
      ? { do: 'wait', until: question.change.promise }
      : { do: 'split', parts };
  }

  /** Marks a request as in flight; call the returned function once its answer is loaded, or if there is none. */
  start({ input, request }: Pick<LedgerRequest, 'input' | 'request'>): () => void {
    const { days } = this.#definition.endpoint.paging;
    const question = this.#find(input);
    const window = days && windowOf(request, days);
    if (!question || !window) return () => undefined;
    question.inFlight.add(window);
    return () => {
      if (!question.inFlight.delete(window)) return;
      question.change.resolve();
      question.change = Promise.withResolvers();
    };
  }

  #find(input: RequestBody): QuestionState | undefined {
    const key = canonicalJson(input);
    const found = this.#questions.get(key);
    if (found) {
      this.#questions.delete(key);
      this.#questions.set(key, found);
    }
    return found;
  }

  /** Finds the question, or begins it; undefined for an endpoint without days. */
  #begin(input: RequestBody): QuestionState | undefined {
    const { endpoint, request } = this.#definition;
    const { days } = endpoint.paging;
    const found = this.#find(input);
    if (found || !days) return found;
    const question: QuestionState = {
      // The request of an input, with the lists that it names itself.
      evidence: new Evidence(canonicalRequest(endpoint, { ...request, ...input }), days),
      answers: 0,
      roomy: { answers: 0, filled: 0 },
      inFlight: new Set(),
      change: Promise.withResolvers(),
    };
    this.#questions.set(canonicalJson(input), question);
    if (this.#questions.size > MOST_QUESTIONS) {
      const [oldest] = this.#questions.keys();
      if (oldest !== undefined) this.#questions.delete(oldest);
    }
    return question;
  }
}

/** Answers with room that a question may have beyond those that are a quarter full. */
const MORE_ROOMY_ANSWERS = 8;

/**
 * True if the answers to a question hold far less than predicted. Earlier answers may have been wrong, or their items
 * may be gone. Their predictions would split a window into single days.
 */
const isMisled = ({ roomy }: QuestionState): boolean => roomy.answers > MORE_ROOMY_ANSWERS + 4 * roomy.filled;

/**
 * True if requests in flight would improve a split. The first requests of a question qualify: as many may run together
 * as were answered before. Requests near days that came back full against the estimate qualify too.
 */
function isEarly({ evidence: { density }, answers, inFlight }: QuestionState, window: DayRange | undefined): boolean {
  if (inFlight.size === 0) return false;
  if (inFlight.size >= answers) return true;
  const near = window && density.underestimatedDays(window);
  return near !== undefined && [...inFlight].some((it) => overlap(it, near));
}

/** Plans the parts of a request in its place; does nothing if the request is no longer planned. */
export async function splitPlanned(
  context: RunContext,
  request: LedgerRequest,
  into: Follow,
  splitter: Splitter,
): Promise<void> {
  const { definition, run, maxAgeOf, invokedAt } = context;
  const at = context.now();
  const replace = async (ops: Ops): Promise<{ readonly added: number; readonly depth: number } | undefined> => {
    await assertLease(ops, context.lease);
    const depth = await skipForSplit(ops, request.id, becauseOf(into), at);
    if (depth === undefined) return undefined;
    // The parts of a window that was never sent count as one split.
    const partDepth = Math.max(depth, 1);
    const tasks = into.requests.map((part) => partOf(definition, request, part, partDepth));
    const freshAnswers = await freshFor(ops, definition.endpoint, tasks, { maxAgeOf, now: at, invokedAt });
    const added = await planRequests(ops, run, tasks, { at, parentId: request.id, freshAnswers });
    return { added, depth };
  };
  const cut = await retryTransaction(operationsOf(context.warehouse), replace, context);
  if (!cut) return;
  splitter.recordSplit(request.input, { request: request.request, items: [] }, into.requests);
  // The request leaves the plan as its parts enter it.
  context.onPlanned(cut.added - 1);
  context.onSplit?.({ depth: cut.depth, input: request.input, request: request.request, parts: into, wasSent: false });
}

function becauseOf({ estimate, requests }: Follow): string {
  const items = estimate?.items === undefined ? '' : `predicted to hold about ${Math.round(estimate.items)} items: `;
  const parts = estimate?.requests ?? requests.length;
  return parts > requests.length
    ? `${items}the first of about ${parts} parts is split off`
    : `${items}split into ${requests.length} parts`;
}

/** The task of a part of a question. */
export const partOf = (
  definition: SyncDefinition,
  { body, request, input }: Pick<Task, 'body' | 'request' | 'input'>,
  part: RequestBody,
  depth: number,
): Task => taskOf(definition, { ...body, ...changedFields(request, part) }, input, depth);

/** Returns the fields of a part that differ from its question; the other fields are sent as they were. */
const changedFields = (before: RequestBody, after: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => canonicalJson(value) !== canonicalJson(before[name] ?? null)),
  );
