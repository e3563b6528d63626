/**
 * Forecasts the requests of a run for each question of a plan, without sending anything. It follows stored answers as
 * the run does: a stored answer may be fresh and full, and then its parts may need requests.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { lengthOf } from '../../day.ts';
import { decode } from '../../normalize/decode.ts';
import { possiblyFull, type QuestionSent, questionsSent, unreadKeys } from '../../ledger/questions.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { readAnswers } from '../../ledger/answers.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { QuotedQuestion } from '../../plan/pricing/quote.ts';
import type { Task } from '../../plan/task.ts';
import { allowanceOf, requestsOf } from '../../service/window/allowance.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { countOf } from '../../service/endpoint.ts';
import { windowOf } from '../../service/window/evidence.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { openSplitter, partOf, type Splitter } from '../split/splitter.ts';
import { freshFor } from '../../control/freshness/freshness.ts';

/** The requests of a plan or of a part of it, with the stored answers that serve some of them. */
export interface PlanToAsk {
  readonly tasks: readonly Task[];
  readonly fresh: ReadonlyMap<string, string>;
  /** Requests that are not sent. */
  readonly givenUp: ReadonlySet<string>;
  readonly failing: ReadonlyMap<string, unknown>;
  /** Requests that were sent before, so they are sent again unchanged; absent for a new plan. */
  readonly tried?: ReadonlySet<string>;
  readonly maxAgeOf: MaxAgeOf;
}

/** A task with the planned question that it is a part of. */
interface Node {
  readonly task: Task;
  readonly root: Root;
}

interface Root {
  readonly task: Task;
  readonly open: RequestBody[];
}

/** A question of a plan that needs requests, with its task. */
export interface PendingQuestion extends QuotedQuestion {
  readonly task: Task;
}

/** Returns the questions of a part of a plan that need requests, each with the expected requests. */
export type Forecast = (plan: PlanToAsk) => Promise<readonly PendingQuestion[]>;

/** Opens the forecast of a sync, which the parts of its plan share. Answers after the `horizon` serve no parts. */
export async function openForecast(
  ops: Ops,
  definition: SyncDefinition,
  now: Date,
  horizon?: string,
): Promise<Forecast> {
  const { endpoint } = definition;
  const mayLead = endpoint.paging.by === 'count' || endpoint.paging.by === 'window';
  const splitter = mayLead ? await openSplitter(ops, definition) : undefined;
  let sent: ReturnType<typeof sentBefore> | undefined;
  return async (plan) => {
    const tasks = plan.tasks.filter(({ requestKey }) => !plan.givenUp.has(requestKey) && !plan.failing.has(requestKey));
    const roots = tasks.map((task): Root => ({ task, open: [] }));
    if (splitter) await follow({ ops, definition, plan, now, horizon, splitter }, roots);
    else for (const { task, open } of roots) if (!plan.fresh.has(task.requestKey)) open.push(task.request);
    const pending = roots.filter(({ open }) => open.length > 0);
    const allowed = pending.map(({ task }) => allowanceOf(endpoint.paging, task.request, definition));
    const mayGrow = allowed.some((it) => it !== undefined && requestsOf(it) > 1);
    if (mayGrow) sent ??= sentBefore(await questionsSent(ops, definition.name));
    return pending.map(({ task, open }, index) => {
      const allowance = allowed[index];
      if (!allowance || requestsOf(allowance) === 1) return { task, open, ...(allowance && { most: allowance }) };
      // The question itself already has an answer.
      const most = plan.fresh.has(task.requestKey) ? less(allowance, countOf(task.request)) : allowance;
      return { task, open, most, ...sent?.(definition, task) };
    });
  };
}

const less = (allowance: ReadonlyMap<number | undefined, number>, count: number | undefined) =>
  new Map([...allowance].map(([key, requests]) => [key, key === count ? requests - 1 : requests]));

interface Following {
  readonly ops: Ops;
  readonly definition: SyncDefinition;
  readonly plan: PlanToAsk;
  readonly now: Date;
  readonly horizon: string | undefined;
  readonly splitter: Splitter;
}

/** Finds the requests to send, in the order of a run: first load all stored answers, then decide planned requests. */
async function follow(context: Following, roots: readonly Root[]): Promise<void> {
  const { ops, definition, plan, now, horizon, splitter } = context;
  const fresh = new Map(plan.fresh);
  const seen = new Set(roots.map(({ task }) => task.requestKey));
  let stored: Node[] = [];
  let planned: Node[] = [];
  const enter = (nodes: readonly Node[]): void => {
    for (const node of nodes) (fresh.has(node.task.requestKey) ? stored : planned).push(node);
  };
  const enterParts = async ({ task, root }: Node, parts: readonly RequestBody[], depth: number): Promise<void> => {
    const tasks = parts
      .map((part) => partOf(definition, task, part, depth))
      .filter(({ requestKey }) => !seen.has(requestKey));
    const answers = await freshFor(ops, definition.endpoint, tasks, { maxAgeOf: plan.maxAgeOf, now, horizon });
    for (const [key, id] of answers.fresh) fresh.set(key, id);
    for (const { requestKey } of tasks) seen.add(requestKey);
    enter(tasks.filter(({ requestKey }) => !answers.failing.has(requestKey)).map((part) => ({ task: part, root })));
  };
  enter(roots.map((root) => ({ task: root.task, root })));
  while (stored.length + planned.length > 0) {
    const loading = stored;
    stored = [];
    const idOf = ({ task }: Node): string => fresh.get(task.requestKey) ?? '';
    const full = loading.length > 0 ? await possiblyFull(ops, loading.map(idOf)) : new Set<string>();
    for (const node of loading.filter((it) => full.has(idOf(it)))) {
      const answer = (await readAnswers(ops, [idOf(node)])).get(idOf(node));
      const decoded = answer && decode(answer.body);
      if (decoded?.kind !== 'items') continue;
      const { request, input, depth } = node.task;
      const step = { request, items: decoded.items };
      splitter.learn(input, step);
      const { requests } = splitter.followOf(input, step);
      await enterParts(node, requests, depth + 1);
      splitter.recordSplit(input, step, requests);
    }
    const deciding = planned;
    planned = [];
    const decisions = deciding.map((node) => ({
      node,
      decision: splitter.decide({ ...node.task, attempts: plan.tried?.has(node.task.requestKey) === true ? 1 : 0 }),
    }));
    const split = decisions.filter(({ decision }) => decision.do === 'split').map(({ node }) => node.task.requestKey);
    const unread = split.length > 0 ? await unreadKeys(ops, split) : new Set<string>();
    for (const { node, decision } of decisions) {
      if (decision.do !== 'split' || unread.has(node.task.requestKey)) {
        node.root.open.push(node.task.request);
        continue;
      }
      await enterParts(node, decision.parts.requests, Math.max(node.task.depth, 1));
      splitter.recordSplit(node.task.input, { request: node.task.request, items: [] }, decision.parts.requests);
    }
  }
}

/**
 * The requests that a task's question took in the last run. A window with other days is scaled by its number of days
 * where that is known.
 */
function sentBefore(
  questions: readonly QuestionSent[],
): (
  definition: SyncDefinition,
  task: Task,
) => Pick<QuotedQuestion, 'usual' | 'usualParts' | 'isEstimated'> | undefined {
  const byKey = new Map(questions.map((it) => [it.requestKey, it]));
  const byInput = new Map(questions.map((it) => [canonicalJson(it.input), it]));
  return ({ endpoint: { paging } }, { requestKey, request, input }) => {
    const same = byKey.get(requestKey);
    if (same && sentOf(same).length > 0) return { usual: same.counts, usualParts: same.partCounts };
    const other = byInput.get(canonicalJson(input));
    const [now, then] = [request, other?.request].map((it) => it && paging.days && windowOf(it, paging.days));
    if (!other || !now || !then) return undefined;
    const sent = sentOf(other);
    if (sent.length === 0) return undefined;
    const length = Math.max(1, scaled(other, lengthOf(now) / lengthOf(then)));
    const usual = other.counts.slice(0, length);
    const parts = Array.from({ length: length - usual.length }, (_, at) => sent[at % sent.length]);
    return { usual, usualParts: parts, isEstimated: true };
  };
}

const sentOf = ({ counts, partCounts }: QuestionSent) => [...counts, ...partCounts];

/** A question that needed no parts needs some only if its window grows so much that its answer becomes full. */
function scaled(question: QuestionSent, share: number): number {
  const { request, items } = question;
  const count = countOf(request);
  const isWhole = question.partCounts.length === 0 && items !== undefined && count !== undefined;
  return isWhole ? Math.ceil((items * share) / count) : Math.round(sentOf(question).length * share);
}
