/** The pages of a walk of the request log: each follows from the pages before it. */
import type { RunContext } from '../run/run-context.ts';
import type { RunStop } from '../run/stop-controller.ts';
import { decode } from '../../normalize/decode.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { readAnswer, type StoredAnswer } from '../../ledger/answers.ts';
import { type Follow, NO_FOLLOW_UP, type PageStep } from '../../service/paging.ts';
import { LOOK_BACK } from '../../service/request-log/walk.ts';
import { filtersText } from '../../text/filters.ts';
import type { Row } from './served-rows.ts';

/** The next page of a walk of the request log; none without a step, after an unreadable answer or a 412. */
export async function nextPages(
  context: RunContext,
  ops: Ops,
  row: Row,
  step: PageStep | undefined,
  { walks, stopWith }: WalkMemory,
): Promise<Follow> {
  const before = await stepsBefore(context, ops, row.parent_id, walks, LOOK_BACK);
  const steps = step ? [...before.slice(-LOOK_BACK), step] : [];
  const pages = Number(row.depth) + 1;
  const follow = step
    ? bounded(context.definition.endpoint.paging.follow(steps, {}), pages, context.maxPages)
    : NO_FOLLOW_UP;
  const { pauseAfterPages = PAUSE_AFTER_PAGES } = context;
  if (step && follow.requests.length > 0 && pages % pauseAfterPages === 0) stopWith?.(pauseOf(step, pages));
  remember(walks, row, steps, follow.requests.length > 0);
  return follow;
}

/** Ends a read that may have no more pages. */
const bounded = (follow: Follow, pages: number, maxPages: number | undefined): Follow =>
  maxPages === undefined || pages < maxPages || follow.requests.length === 0
    ? follow
    : { requests: [], lowerBound: `${maxPages} pages were read and more may follow` };

/** The pages of a million rows. A service could return new pages without end, so the walk pauses before the next one. */
const PAUSE_AFTER_PAGES = 10_000;

/** The stop of a run whose walk pauses. The next page is planned, so the next invocation continues with it. */
const pauseOf = ({ request: { start_time, end_time } }: PageStep, pages: number): RunStop => ({
  reason: 'unavailable',
  because: `the log was not read to its end: ${filtersText({ start_time, end_time })} has more than ${pages} pages`,
  next: 'Run the sync again; it continues where it stopped.',
  forAll: false,
});

/** The gap of a walk whose next page was read before. */
export const cycleText = ({ requests: [next] }: Follow): string =>
  `the log repeats the cursor ${String(next?.['cursor'])}; rows beyond it were not read`;

/** True if the service answered 412 to a later page of a walk, so nothing is known about the rows from there on. */
export const isMissingPage = ({ request, status }: Pick<StoredAnswer, 'request' | 'status'>): boolean =>
  status === 412 && (request['cursor'] ?? null) !== null;

/** The gap of a walk that such a page ends. */
export const MISSING_PAGE = 'the service answered 412 to the next page; its rows were not read';

/** The last pages of a walk up to each of its requests. */
export type Walks = Map<string, readonly PageStep[]>;

/** What a run remembers about its walks. */
export interface WalkMemory {
  readonly walks: Walks;
  /** Stops the run; absent while it loads waiting answers, which sends nothing. */
  readonly stopWith?: (reason: RunStop) => void;
}

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
export const stepOf = (
  context: RunContext,
  answer: Pick<StoredAnswer, 'request'>,
  items: readonly unknown[],
): PageStep =>
  context.definition.endpoint.paging.by === 'cursor'
    ? { request: answer.request, items: items.map(fieldsOfWalk), runStartedAt: context.run.startedAt }
    : { request: answer.request, items };

function fieldsOfWalk(item: unknown): unknown {
  if (item === null || typeof item !== 'object') return null;
  const { id, started_at, endpoint } = item as Readonly<Record<string, unknown>>;
  return { id, started_at, endpoint };
}

/** Returns the preceding pages that a walk needs: from memory, or after a restart from the stored answers. */
async function stepsBefore(
  context: RunContext,
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
