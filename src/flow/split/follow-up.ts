/**
 * Plans what follows an answer: the next page, the parts of a question whose answer was full, and the coverage record.
 */
import { sql } from 'kysely';
import { type Row, servedBy, rowsServed } from './served-rows.ts';
import { cycleText, isMissingPage, MISSING_PAGE, nextPages, stepOf, type WalkMemory } from './walk-pages.ts';
import type { RunContext } from '../run/run-context.ts';
import { recordSlices, type CoverageSlice } from '../../ledger/coverage.ts';
import { planRequests } from '../../ledger/requests/planned.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { isUnreadable, unreadableReason } from '../../ledger/failures/unreadable-answers.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { type Follow, isFull, NO_FOLLOW_UP, type PageStep } from '../../service/paging.ts';
import { partOf, type Splitter } from './splitter.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import { freshFor } from '../../control/freshness/freshness.ts';
import { lastDayHadEnded } from '../ingest/read-slices.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** What a run remembers about its questions. */
export interface RunMemory extends WalkMemory {
  readonly splitter: Splitter;
}

/**
 * Plans the follow-up requests of answers, pages and slices, in their order and in the transaction of their load.
 * Answers of earlier runs lead to none.
 */
export async function planFollowUps(
  context: RunContext,
  ops: Ops,
  results: readonly IngestResult[],
  memory: RunMemory,
): Promise<void> {
  // A 412 reads nothing, so it says nothing about a slice. Only a 412 to a later page of a walk leaves a gap from there on.
  const leading = results.filter(({ answer }) => answer.status !== 412 || isMissingPage(answer));
  if (context.definition.endpoint.paging.by === 'once' || leading.length === 0) return;
  let rows = await rowsServed(context, ops, leading);
  const slices = new Map<string, CoverageSlice>();
  for (const result of leading) {
    const row = rows.get(servedBy(result));
    if (!row) continue;
    const { added, slice } = await planOf(context, ops, result, row, memory);
    if (slice) slices.set(row.id, slice);
    // A request that was planned just now may be served by a later answer of this load.
    if (added > 0) rows = await rowsServed(context, ops, leading);
  }
  await recordSlices(ops, [...slices.values()]);
}

/** Plans the follow-up requests of one answer; returns how many were added, and the coverage record. */
async function planOf(
  context: RunContext,
  ops: Ops,
  result: IngestResult,
  row: Row,
  memory: RunMemory,
): Promise<{ readonly added: number; readonly slice: CoverageSlice | undefined }> {
  const { answer, batch } = result;
  const step = stepOf(context, answer, batch.items);
  const isReadable = !isUnreadable(batch) && answer.status !== 412;
  if (context.definition.endpoint.paging.by === 'cursor') {
    const next = await nextPages(context, ops, row, isReadable ? step : undefined, memory);
    const added = await planNewParts(context, ops, answer, row, next);
    const follow = ofWalk(answer, next, next.requests.length > 0 && added === 0 && row.has_parts !== true);
    const isGap = follow.lowerBound !== undefined || isUnreadable(batch);
    return { added, slice: isGap ? sliceOf(context, result, row, { step, follow, isReadable }) : undefined };
  }
  if (isReadable) memory.splitter.learn(row.input, step);
  const follow = isReadable ? memory.splitter.followOf(row.input, step) : NO_FOLLOW_UP;
  const added = await planNewParts(context, ops, answer, row, follow);
  if (isReadable) memory.splitter.recordSplit(row.input, step, follow.requests);
  if (follow.requests.length > 0)
    context.onSplit?.({
      depth: Number(row.depth),
      input: row.input,
      request: answer.request,
      parts: follow,
      wasSent: true,
    });
  return { added, slice: sliceOf(context, result, row, { step, follow, isReadable }) };
}

/** Returns the next page of a walk, or a gap if the page is missing or its next cursor was there before. */
function ofWalk(answer: StoredAnswer, next: Follow, isCycle: boolean): Follow {
  const lowerBound = isMissingPage(answer) ? MISSING_PAGE : isCycle ? cycleText(next) : undefined;
  return lowerBound === undefined ? next : { requests: [], lowerBound };
}

interface SliceResult {
  readonly step: PageStep;
  readonly follow: Follow;
  readonly isReadable: boolean;
}

function sliceOf(
  { definition, run }: RunContext,
  { answer, identity, batch }: IngestResult,
  row: Row,
  { step, follow, isReadable }: SliceResult,
): CoverageSlice {
  const { count, ...filters } = identity.request;
  const unreadable = isUnreadable(batch);
  return {
    requestId: row.id,
    runId: run.id,
    sync: definition.name,
    endpoint: definition.endpoint.name,
    requestKey: identity.requestKey,
    filters,
    asked: typeof count === 'number' ? count : undefined,
    returned: batch.items.length,
    depth: Number(row.depth),
    complete:
      isReadable && follow.lowerBound === undefined && !isFull(step) && lastDayHadEnded(definition.endpoint, answer),
    lowerBound: unreadable ? `its answer could not be read: ${unreadableReason(batch) ?? ''}` : follow.lowerBound,
    unreadable,
    asOf: answer.receivedAt,
  };
}

/** Like `planParts`, but only once for a stored answer, because the current evidence might lead to other parts. */
const planNewParts = async (
  context: RunContext,
  ops: Ops,
  answer: Pick<StoredAnswer, 'request'>,
  row: Row,
  follow: Follow,
): Promise<number> => (row.has_parts === true ? 0 : planParts(context, ops, answer, row, follow));

/** Plans the follow-up requests of one row; returns how many were new. */
async function planParts(
  context: RunContext,
  ops: Ops,
  answer: Pick<StoredAnswer, 'request'>,
  row: Row,
  { requests }: Follow,
): Promise<number> {
  if (requests.length === 0) return 0;
  const question = { body: row.sent_body ?? {}, request: answer.request, input: row.input };
  const tasks = requests.map((part) => partOf(context.definition, question, part, Number(row.depth) + 1));
  const now = context.now();
  const { maxAgeOf, invokedAt } = context;
  const freshAnswers = await freshFor(ops, context.definition.endpoint, tasks, { maxAgeOf, now, invokedAt });
  const added = await planRequests(ops, context.run, tasks, { at: now, parentId: row.id, freshAnswers });
  context.onPlanned(added);
  return added;
}

/** False if an answer leads to nothing, whatever is known about its question. */
export const mayFollowUp = (
  { paging }: Endpoint,
  { request }: Pick<StoredAnswer, 'request'>,
  items: readonly unknown[],
): boolean => paging.by === 'cursor' || (paging.by !== 'once' && isFull({ request, items }));

/** Returns fresh answers that must be loaded for this run: for its own bridges, further slices or pages of a walk. */
export async function answersToServe(context: RunContext, ops: Ops, afterId: string) {
  const { endpoint, name } = context.definition;
  const ownBridge = endpoint.bridge !== undefined && 'sync' in endpoint.bridge.questionColumns;
  return ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .select(['r.id', 'r.request_key', 'r.body', 'a.id as answer_id', 'a.bytes'])
    .where('r.run_id', '=', context.run.id)
    .$if(context.run.chunk !== undefined, (query) => query.where('r.chunk', '=', context.run.chunk ?? null))
    .where('r.state', '=', 'fresh')
    .where('r.id', '>', afterId)
    .where((eb) =>
      eb.or([
        eb.and([eb.lit(ownBridge), eb('a.sync', '<>', name)]),
        // Bought under another name: the requested name is part of the bridge's key.
        eb.and([eb.lit(endpoint.bridge !== undefined), eb('a.request_key', '<>', eb.ref('r.request_key'))]),
        eb.and([
          eb.lit(endpoint.paging.by === 'count' || endpoint.paging.by === 'window'),
          eb('a.received', '>=', eb.ref('a.asked')),
        ]),
        // Another sync bought it and has not loaded it yet.
        eb('a.loaded_at', 'is', null),
        // This sync has no record of the slice, or an older one. A gap of the other sync is one of this sync too, until an
        // answer that can be read serves both. An answer with room also ends a lower bound of this sync.
        eb.and([
          eb.lit(endpoint.paging.by !== 'once'),
          eb.or([
            eb('a.unreadable', '=', sql<boolean>`true`),
            notExists(
              eb
                .selectFrom('coverage as c')
                .select('c.id')
                .whereRef('c.request_key', '=', 'r.request_key')
                .where('c.sync', '=', name)
                .whereRef('c.as_of', '>=', 'a.received_at'),
            ),
          ]),
        ]),
        eb.lit(endpoint.paging.by === 'cursor'),
      ]),
    )
    .orderBy('r.id')
    .execute();
}
