/** What follows from an answer: the next page, the parts of a question whose answer was full, and its place in the coverage. */
import type { SyncDefinition } from '../config/definition.ts';
import { decode } from '../normalize/decode.ts';
import { recordSlice } from '../ops/coverage.ts';
import { planRequests } from '../ops/ledger.ts';
import type { Run } from '../ops/runs.ts';
import type { Ops } from '../ops/schema.ts';
import { readAnswer, type VaultAnswer } from '../ops/vault.ts';
import { taskOf } from '../plan/plan.ts';
import type { RequestBody } from '../service/asked.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { canonicalJson } from '../service/identity.ts';
import { dayIn, type Follow, isFull, type Step } from '../service/paging.ts';
import type { Taken } from './intake.ts';
import { freshFor } from './prepare.ts';

export interface Following {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** Freshness counts for nothing. */
  readonly refresh: boolean;
  readonly now: () => Date;
  /** Told of requests that paging and splitting added. */
  readonly onPlanned: (requests: number) => void;
}

/** The ledger's row, in this run, that an answer serves; an answer of an abandoned run serves none. */
async function rowServed(it: Following, ops: Ops, answerId: string) {
  return ops
    .selectFrom('requests')
    .select(['id', 'parent_id', 'sent_body', 'input', 'depth'])
    .where('run_id', '=', it.run.id)
    .where('answer_id', '=', answerId)
    .executeTakeFirst();
}

/**
 * Plans what an answer leads to, pages and slices, as part of its load; tells how much that is. An answer that a past
 * run asked for leads to nothing.
 */
export async function planFollowing(it: Following, ops: Ops, taken: Taken, walks: Walks): Promise<void> {
  const { answer, batch, receipt } = taken;
  const { endpoint } = it.definition;
  if (endpoint.paging.by === 'once' || answer.status === 412) return;
  const row = await rowServed(it, ops, answer.id);
  if (!row) return;
  const unreadable = batch.items.length === 0 && receipt.quarantined > 0;
  const step = stepOf(endpoint, answer, batch.items);
  const steps = [...(endpoint.paging.by === 'cursor' ? await stepsBefore(it, ops, row.parent_id, walks) : []), step];
  const follow = unreadable
    ? NOTHING
    : bounded(endpoint.paging.follow(steps, it.definition.splitBy), Number(row.depth));
  // A walk that ended is looked at no more.
  if (endpoint.paging.by === 'cursor' && follow.requests.length > 0) walks.set(row.id, steps);
  const tasks = follow.requests.map((request) =>
    taskOf(
      it.definition,
      { ...row.sent_body, ...changedFields(answer.request, request) },
      row.input,
      Number(row.depth) + 1,
    ),
  );
  const now = it.now();
  const added = await planRequests(ops, it.run, tasks, {
    at: now,
    parentId: row.id,
    freshAnswers: await freshFor(ops, it.definition, tasks, it.refresh, now),
  });
  it.onPlanned(added);
  if (follow.lowerBound !== undefined || endpoint.paging.by !== 'cursor') {
    const { count, ...filters } = answer.request;
    await recordSlice(ops, {
      requestId: row.id,
      runId: it.run.id,
      sync: it.definition.name,
      endpoint: endpoint.name,
      requestKey: answer.requestKey,
      filters,
      asked: typeof count === 'number' ? count : undefined,
      returned: batch.items.length,
      depth: Number(row.depth),
      complete: !unreadable && !isFull(step) && lastDayHadEnded(endpoint, answer),
      lowerBound: follow.lowerBound,
      asOf: answer.receivedAt,
    });
  }
}

const NOTHING: Follow = { requests: [] };

/** A day of the log with a million rows; whoever pages further than that pages in a circle. */
const DEEPEST = 10_000;

const bounded = (follow: Follow, depth: number): Follow =>
  depth < DEEPEST || follow.requests.length === 0
    ? follow
    : { requests: [], lowerBound: `${DEEPEST} pages were read and more may follow` };

/** The pages of a walk up to each of its requests. */
export type Walks = Map<string, readonly Step[]>;

/** Of a page of the log only what the walk looks at is kept, since every page is kept till its end. */
const stepOf = (endpoint: Endpoint, answer: Pick<VaultAnswer, 'request'>, items: readonly unknown[]): Step => ({
  request: answer.request,
  items: endpoint.paging.by === 'cursor' ? items.map(pageMark) : items,
});

function pageMark(item: unknown): unknown {
  if (item === null || typeof item !== 'object') return null;
  const { id, started_at } = item as Readonly<Record<string, unknown>>;
  return { id, started_at };
}

/** The walk before a page: from memory, or after a restart from the vault. */
async function stepsBefore(it: Following, ops: Ops, parentId: string | null, walks: Walks): Promise<readonly Step[]> {
  if (parentId === null) return [];
  const known = walks.get(parentId);
  if (known) {
    walks.delete(parentId);
    return known;
  }
  const parent = await ops
    .selectFrom('requests')
    .select(['parent_id', 'answer_id'])
    .where('id', '=', parentId)
    .executeTakeFirst();
  const answer = parent?.answer_id != null ? await readAnswer(ops, parent.answer_id) : undefined;
  if (!parent || !answer) return [];
  const decoded = decode(answer.body);
  const step = stepOf(it.definition.endpoint, answer, decoded.kind === 'items' ? decoded.items : []);
  return [...(await stepsBefore(it, ops, parent.parent_id, walks)), step];
}

const changedFields = (before: RequestBody, after: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => canonicalJson(value) !== canonicalJson(before[name] ?? null)),
  );

/** A day that is not over in the source's time zone can still get more. */
function lastDayHadEnded(endpoint: Endpoint, answer: VaultAnswer): boolean {
  const { days } = endpoint.paging;
  const last = days && answer.request[days.to];
  return !days || (typeof last === 'string' && last < dayIn(days.timeZone, new Date(answer.receivedAt)));
}

/** Stored answers that serve this run and lead to more: bridges of its own, further slices, pages of a walk. */
export async function answersToServe(it: Following, ops: Ops, afterId: string) {
  const { endpoint, name } = it.definition;
  const ownBridge = endpoint.bridge !== undefined && 'sync' in endpoint.bridge.asked;
  return ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .select(['r.id', 'a.id as answer_id'])
    .where('r.run_id', '=', it.run.id)
    .where('r.state', '=', 'fresh')
    .where('r.id', '>', afterId)
    .where((eb) =>
      eb.or([
        eb.and([eb.lit(ownBridge), eb('a.sync', '<>', name)]),
        eb.and([
          eb.lit(endpoint.paging.by === 'count' || endpoint.paging.by === 'window'),
          eb('a.received', '>=', eb.ref('a.asked')),
        ]),
        // Another sync bought it and has yet to load it.
        eb('a.loaded_at', 'is', null),
        eb.lit(endpoint.paging.by === 'cursor'),
      ]),
    )
    .orderBy('r.id')
    .execute();
}
