/**
 * Splits questions before they are sent. Each answered slice improves the estimate for its input's question, so a
 * planned request is checked again before it is sent. If its window would likely come back full, its parts are planned
 * instead.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { type InputSlices, readEarlierSlices } from '../../ledger/coverage.ts';
import { skipForSplit } from '../../ledger/skip-for-split.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { type LedgerRequest, planRequests } from '../../ledger/requests.ts';
import type { Run } from '../../ledger/runs.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import { taskOf } from '../../plan/plan.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { isAllowed } from '../../service/window/allowance.ts';
import { type Evidence, evidence, windowOf } from '../../service/window/evidence.ts';
import { canonicalRequest } from '../../service/request-key.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { type Follow, isFull, type PageStep, type FollowOptions } from '../../service/paging.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { SplitEvent } from './split-notices.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** The estimates for the questions of a run. */
export interface Splitter {
  /** Returns the options for following a full answer to an input's question. */
  readonly followOptionsFor: (input: RequestBody) => FollowOptions;
  /** Returns what follows a learned answer: nothing, or parts that are allowed no more requests than their question. */
  readonly followOf: (input: RequestBody, step: PageStep) => Follow;
  /** Learns from an answer, before its follow-up requests are planned. Questions that fit one answer are not kept. */
  readonly learn: (input: RequestBody, step: PageStep) => void;
  /** Records the parts that followed an answer or replaced a question. */
  readonly recordSplit: (input: RequestBody, step: PageStep, parts: readonly RequestBody[]) => void;
  /** False if every request is sent as planned. */
  readonly maySplit: boolean;
  /** Decides whether to send, split or delay a request. */
  readonly decide: (request: Pick<LedgerRequest, 'input' | 'request' | 'attempts'>) => SplitDecision;
  /** Marks a request as in flight; call the returned function once its answer is loaded, or if there is none. */
  readonly start: (request: Pick<LedgerRequest, 'input' | 'request'>) => () => void;
}

/** Send a request, replace it by parts, or wait for requests of its question that are in flight. */
export type SplitDecision =
  | { readonly do: 'ask' }
  | { readonly do: 'cut'; readonly parts: Follow }
  | { readonly do: 'wait'; readonly until: Promise<void> };

const NOT_ALLOWED = 'as many items as requested, and its parts would take more requests than its days and facets need';

/** Most slices of earlier runs that are read, newest first. */
const EARLIER = 20_000;
/** Most questions in memory, by last use: about 20 kB each. */
const QUESTIONS = 10_000;

type Window = NonNullable<ReturnType<typeof windowOf>>;

interface QuestionState {
  readonly evidence: Evidence;
  /** Number of answers learned from. */
  answers: number;
  /** Answers of this run that were not full, and the sum of their filled shares. */
  readonly roomy: { answers: number; filled: number };
  /** The days of the slices in flight, as numbers. */
  readonly underWay: Set<Window>;
  /** Resolves when a request in flight ends. */
  change: PromiseWithResolvers<void>;
}

/** Creates the splitter of a run, with the slices of earlier runs of its sync as evidence. */
export async function openSplitter(ops: Ops, definition: SyncDefinition): Promise<Splitter> {
  const { name, endpoint } = definition;
  return splitterOf(definition, endpoint.paging.days ? await readEarlierSlices(ops, name, endpoint.name, EARLIER) : []);
}

/** Creates a splitter that starts with the evidence of earlier slices. */
export function splitterOf(
  definition: Pick<SyncDefinition, 'endpoint' | 'request' | 'splitBy' | 'raiseCountTo'>,
  earlier: readonly InputSlices[],
): Splitter {
  const { endpoint } = definition;
  const { days, splitBefore } = endpoint.paging;
  const { find, begin } = openQuestions(definition);
  const followOptionsFor = (input: RequestBody): FollowOptions => {
    const question = find(input);
    return {
      splitBy: definition.splitBy,
      raiseCountTo: definition.raiseCountTo,
      evidence: question?.evidence,
      isMisled: question !== undefined && isMisled(question),
    };
  };
  for (const { input, slices } of earlier) {
    // An earlier input may no longer be valid.
    const isValid = endpoint.request.safeParse({ ...definition.request, ...input }).success;
    const question = isValid ? begin(input) : undefined;
    for (const slice of slices) question?.evidence.learnEarlier(slice);
    if (question) question.answers += slices.length;
  }
  return {
    followOptionsFor,
    maySplit: days !== undefined,
    followOf: (input, step) => {
      const ways = followOptionsFor(input);
      const follow = endpoint.paging.follow([step], ways);
      return isAllowed(endpoint.paging, { request: step.request, isAsked: true }, follow.requests, ways)
        ? follow
        : { requests: [], lowerBound: NOT_ALLOWED };
    },
    learn: (input, step) => {
      const question = isFull(step) ? begin(input) : find(input);
      if (!question) return;
      const { request, items } = step;
      question.evidence.learn({ request, items, returned: items.length, full: isFull(step) });
      question.answers += 1;
      if (isFull(step)) return;
      question.roomy.answers += 1;
      question.roomy.filled += items.length / Number(request['count']);
    },
    recordSplit: (input, { request, items }, parts) => {
      find(input)?.evidence.recordSplit({ request, returned: items.length }, parts);
    },
    decide: ({ input, request, attempts }) => {
      const question = find(input);
      // A request that was sent may have been answered, so it is not replaced by its parts.
      const into = question && attempts === 0 ? splitBefore?.(request, followOptionsFor(input)) : undefined;
      if (!question || !into) return { do: 'ask' };
      if (!isAllowed(endpoint.paging, { request, isAsked: false }, into.requests, followOptionsFor(input)))
        return { do: 'ask' };
      return isEarly(question, days && windowOf(request, days))
        ? { do: 'wait', until: question.change.promise }
        : { do: 'cut', parts: into };
    },
    start: ({ input, request }) => {
      const question = find(input);
      const window = days && windowOf(request, days);
      if (!question || !window) return () => undefined;
      question.underWay.add(window);
      return () => {
        if (!question.underWay.delete(window)) return;
        question.change.resolve();
        question.change = Promise.withResolvers();
      };
    },
  };
}

interface Questions {
  readonly find: (input: RequestBody) => QuestionState | undefined;
  /** Finds the question, or begins it; undefined for an endpoint without days. */
  readonly begin: (input: RequestBody) => QuestionState | undefined;
}

/** Remembers the questions of a sync that were looked at last. */
function openQuestions(definition: Pick<SyncDefinition, 'endpoint' | 'request'>): Questions {
  const { days } = definition.endpoint.paging;
  const questions = new Map<string, QuestionState>();
  const find = (input: RequestBody): QuestionState | undefined => {
    const key = canonicalJson(input);
    const found = questions.get(key);
    if (found) {
      questions.delete(key);
      questions.set(key, found);
    }
    return found;
  };
  const begin = (input: RequestBody): QuestionState | undefined => {
    const found = find(input);
    if (found || !days) return found;
    const made: QuestionState = {
      evidence: evidence(baseOf(definition, input), days),
      answers: 0,
      roomy: { answers: 0, filled: 0 },
      underWay: new Set(),
      change: Promise.withResolvers(),
    };
    questions.set(canonicalJson(input), made);
    const [oldest] = questions.size > QUESTIONS ? questions.keys() : [];
    if (oldest !== undefined) questions.delete(oldest);
    return made;
  };
  return { find, begin };
}

/** Answers with room that a question may have beyond those that are a quarter full. */
const BEYOND = 8;

/**
 * True if the answers to a question hold far less than predicted. Earlier answers may have been wrong, or their items
 * may be gone. Their predictions would split a window into single days.
 */
const isMisled = ({ roomy }: QuestionState): boolean => roomy.answers > BEYOND + 4 * roomy.filled;

/**
 * True if requests in flight would improve a split. The first requests of a question qualify: as many may run at once
 * as were answered before. Requests near days that came back full against the estimate qualify too.
 */
function isEarly({ evidence: { density }, answers, underWay }: QuestionState, window: Window | undefined): boolean {
  if (underWay.size === 0) return false;
  if (underWay.size >= answers) return true;
  const near = window && density.underestimatedDays(window.from, window.to);
  return near !== undefined && [...underWay].some(({ from, to }) => from <= near.to && to >= near.from);
}

/** The request of an input, with the lists that it names itself. */
const baseOf = ({ endpoint, request }: Pick<SyncDefinition, 'endpoint' | 'request'>, input: RequestBody): RequestBody =>
  canonicalRequest(endpoint, { ...request, ...input });

export interface SplitContext extends RetryEffects {
  readonly warehouse: Warehouse;
  readonly definition: SyncDefinition;
  readonly run: Run;
  readonly lease: Lease;
  readonly maxAgeOf: MaxAgeOf;
  readonly now: () => Date;
  readonly onPlanned: (requests: number) => void;
  readonly onSplit?: (cut: SplitEvent) => void;
}

/** Plans the parts of a request in its place; does nothing if the request is no longer planned. */
export async function splitPlanned(
  context: SplitContext,
  request: LedgerRequest,
  into: Follow,
  splitter: Splitter,
): Promise<void> {
  const { definition, run } = context;
  const at = context.now();
  const cut = await retryTransient(
    () =>
      context.warehouse.db.transaction().execute(async (tx) => {
        const ops = operationsOf({ db: tx, ops: context.warehouse.ops });
        await assertLease(ops, context.lease);
        const depth = await skipForSplit(ops, request.id, becauseOf(into), at);
        if (depth === undefined) return undefined;
        // The parts of a window that was never sent count as one split.
        const tasks = into.requests.map((part) =>
          taskOf(
            definition,
            { ...request.body, ...changedFields(request.request, part) },
            request.input,
            Math.max(depth, 1),
          ),
        );
        const freshAnswers = await freshFor(ops, definition.endpoint, tasks, context.maxAgeOf, at);
        const added = await planRequests(ops, run, tasks, { at, parentId: request.id, freshAnswers });
        return { added, depth };
      }),
    context,
  );
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

/** Returns the fields of a part that differ from its question; the other fields are sent as they were. */
export const changedFields = (before: RequestBody, after: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => canonicalJson(value) !== canonicalJson(before[name] ?? null)),
  );
