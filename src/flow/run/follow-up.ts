/**
 * Plans what follows an answer: the next page, the parts of a question whose answer was full, and the coverage record.
 */
import { type Selectable, sql } from 'kysely';
import type { SyncDefinition } from '../../config/definition.ts';
import { decode } from '../../normalize/decode.ts';
import { recordSlices, type CoverageSlice } from '../../ledger/coverage.ts';
import { planRequests } from '../../ledger/requests.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { isUnreadable, unreadableReason } from '../../ledger/unreadable-answers.ts';
import { readAnswer, type StoredAnswer } from '../../ledger/answers.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import { taskOf } from '../../plan/plan.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { type Follow, isFull, type PageStep } from '../../service/paging.ts';
import { LOOK_BACK } from '../../service/request-log/walk.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { SplitEvent } from './split-notices.ts';
import { changedFields, type Splitter } from './splitter.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import { freshFor } from '../../control/freshness/fresh-for.ts';
import { lastDayHadEnded } from '../ingest/read-slices.ts';

export interface FollowUpContext {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** The greatest age of an answer that can serve instead of a new one. */
  readonly maxAgeOf: MaxAgeOf;
  readonly now: () => Date;
  /** Most pages of a walk; absent, more than a day of the log can have. */
  readonly maxPages?: number;
  /** Called with the number of requests that paging and splitting added. */
  readonly onPlanned: (requests: number) => void;
  /** Called for each question that is split. */
  readonly onSplit?: (cut: SplitEvent) => void;
}

/** What a run remembers about its questions. */
export interface RunMemory {
  readonly walks: Walks;
  readonly splitter: Splitter;
}

/** The ledger's row, in this run, that an answer was loaded for. */
interface Row extends Pick<Selectable<OpsDatabase['requests']>, 'id' | 'parent_id' | 'sent_body' | 'input' | 'depth'> {
  /** An earlier invocation planned the follow-up requests. */
  readonly has_parts: unknown;
}

const servedBy = ({ answer, identity }: Pick<IngestResult, 'answer' | 'identity'>): string =>
  `${answer.id} ${identity.requestKey}`;

/** Returns the rows that answers were loaded for, by `servedBy`; an answer of an abandoned run serves none. */
async function rowsServed(
  context: FollowUpContext,
  ops: Ops,
  results: readonly IngestResult[],
): Promise<ReadonlyMap<string, Row>> {
  const source = sql<{ answer_id: string; request_key: string; run: string }>`(select * from unnest(
    ${arrayLiteral(results.map(({ answer }) => answer.id))}::bigint[],
    ${arrayLiteral(results.map(({ identity }) => identity.requestKey))}::text[],
    ${arrayLiteral(results.map(() => context.run.id))}::bigint[]) as u(answer_id, request_key, run))`;
  const rows = await ops
    .selectFrom(source.as('t'))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('requests')
          .select(['id', 'parent_id', 'sent_body', 'input', 'depth'])
          .select((own) =>
            own
              .exists(own.selectFrom('requests as p').select('p.id').whereRef('p.parent_id', '=', 'requests.id'))
              .as('has_parts'),
          )
          // A literal run id without statistics would make the planner expect one or two rows and read them all.
          .whereRef('run_id', '=', 't.run')
          .whereRef('request_key', '=', 't.request_key')
          .whereRef('answer_id', '=', 't.answer_id')
          // `offset 0` is a fence: each row is looked up by its key, whatever the statistics.
          .offset(0)
          .as('r'),
      (join) => join.onTrue(),
    )
    .selectAll()
    .execute();
  return new Map(rows.map(({ answer_id: id, request_key: key, ...row }) => [`${id} ${key}`, row]));
}

/**
 * Plans the follow-up requests of answers, pages and slices, in their order and in the transaction of their load.
 * Answers of earlier runs lead to none.
 */
export async function planFollowUps(
  context: FollowUpContext,
  ops: Ops,
  results: readonly IngestResult[],
  memory: RunMemory,
): Promise<void> {
  const { paging } = context.definition.endpoint;
  const leading = results.filter(({ answer }) => paging.by !== 'cursor' || answer.status !== 412);
  if (paging.by === 'once' || leading.length === 0) return;
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
  context: FollowUpContext,
  ops: Ops,
  result: IngestResult,
  row: Row,
  memory: RunMemory,
): Promise<{ readonly added: number; readonly slice: CoverageSlice | undefined }> {
  const { answer, batch } = result;
  const step = stepOf(context, answer, batch.items);
  const isReadable = !isUnreadable(batch) && answer.status !== 412;
  if (context.definition.endpoint.paging.by === 'cursor') {
    const follow = await nextPages(context, ops, row, isReadable ? step : undefined, memory.walks);
    const added = await planNewParts(context, ops, answer, row, follow);
    const isGap = follow.lowerBound !== undefined || isUnreadable(batch);
    return { added, slice: isGap ? sliceOf(context, result, row, { step, follow, isReadable }) : undefined };
  }
  if (isReadable) memory.splitter.learn(row.input, step);
  const follow = isReadable ? memory.splitter.followOf(row.input, step) : NOTHING;
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

/** The next page of a walk of the request log; none without a step, after an unreadable answer or a 412. */
async function nextPages(
  context: FollowUpContext,
  ops: Ops,
  row: Row,
  step: PageStep | undefined,
  walks: Walks,
): Promise<Follow> {
  const before = await stepsBefore(context, ops, row.parent_id, walks, LOOK_BACK);
  const steps = step ? [...before.slice(-LOOK_BACK), step] : [];
  const follow = step
    ? bounded(context.definition.endpoint.paging.follow(steps, {}), Number(row.depth), context.maxPages)
    : NOTHING;
  remember(walks, row, steps, follow.requests.length > 0);
  return follow;
}

interface SliceResult {
  readonly step: PageStep;
  readonly follow: Follow;
  readonly isReadable: boolean;
}

function sliceOf(
  { definition, run }: FollowUpContext,
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
    complete: isReadable && !isFull(step) && lastDayHadEnded(definition.endpoint, answer),
    lowerBound: unreadable ? `its answer could not be read: ${unreadableReason(batch) ?? ''}` : follow.lowerBound,
    unreadable,
    asOf: answer.receivedAt,
  };
}

/** As `planParts`, but once for a stored answer: the current evidence might lead to other parts. */
const planNewParts = async (
  context: FollowUpContext,
  ops: Ops,
  answer: Pick<StoredAnswer, 'request'>,
  row: Row,
  follow: Follow,
): Promise<number> => (row.has_parts === true ? 0 : planParts(context, ops, answer, row, follow));

/** Plans the follow-up requests of one row; returns how many were new. */
async function planParts(
  context: FollowUpContext,
  ops: Ops,
  answer: Pick<StoredAnswer, 'request'>,
  row: Row,
  { requests }: Follow,
): Promise<number> {
  if (requests.length === 0) return 0;
  const tasks = requests.map((request) =>
    taskOf(
      context.definition,
      { ...row.sent_body, ...changedFields(answer.request, request) },
      row.input,
      Number(row.depth) + 1,
    ),
  );
  const now = context.now();
  const freshAnswers = await freshFor(ops, context.definition.endpoint, tasks, context.maxAgeOf, now);
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

const NOTHING: Follow = { requests: [] };

/** A day of the log with a million rows; a walk with more pages must be a cycle. */
const DEEPEST = 10_000;

const bounded = (follow: Follow, depth: number, deepest = DEEPEST): Follow =>
  depth + 1 < deepest || follow.requests.length === 0
    ? follow
    : { requests: [], lowerBound: `${deepest} pages were read and more may follow` };

/** The last pages of a walk up to each of its requests. */
export type Walks = Map<string, readonly PageStep[]>;

/** Keeps the pages of unfinished walks only, up to the newest page. */
function remember(
  walks: Walks,
  row: { readonly id: string; readonly parent_id: string | null },
  steps: readonly PageStep[],
  goesOn: boolean,
): void {
  if (row.parent_id !== null) walks.delete(row.parent_id);
  if (goesOn) walks.set(row.id, steps);
}

/** Keeps only the fields of a log page that the walk uses. */
const stepOf = (
  context: FollowUpContext,
  answer: Pick<StoredAnswer, 'request'>,
  items: readonly unknown[],
): PageStep =>
  context.definition.endpoint.paging.by === 'cursor'
    ? { request: answer.request, items: items.map(pageMark), runStartedAt: context.run.startedAt }
    : { request: answer.request, items };

function pageMark(item: unknown): unknown {
  if (item === null || typeof item !== 'object') return null;
  const { id, started_at, endpoint } = item as Readonly<Record<string, unknown>>;
  return { id, started_at, endpoint };
}

/** Returns the preceding pages that a walk needs: from memory, or after a restart from the stored answers. */
async function stepsBefore(
  context: FollowUpContext,
  ops: Ops,
  parentId: string | null,
  walks: Walks,
  most: number,
): Promise<readonly PageStep[]> {
  if (parentId === null || most === 0) return [];
  const known = walks.get(parentId);
  if (known) return known;
  const parent = await ops
    .selectFrom('requests')
    .select(['parent_id', 'answer_id'])
    .where('id', '=', parentId)
    .executeTakeFirst();
  const answer = parent?.answer_id != null ? await readAnswer(ops, parent.answer_id) : undefined;
  if (!parent || !answer) return [];
  const decoded = decode(answer.body);
  const step = stepOf(context, answer, decoded.kind === 'items' ? decoded.items : []);
  return [...(await stepsBefore(context, ops, parent.parent_id, walks, most - 1)), step];
}

/** Returns fresh answers that must be loaded for this run: for its own bridges, further slices or pages of a walk. */
export async function answersToServe(context: FollowUpContext, ops: Ops, afterId: string) {
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
        eb.lit(endpoint.paging.by === 'cursor'),
      ]),
    )
    .orderBy('r.id')
    .execute();
}
