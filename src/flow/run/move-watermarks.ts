/** Moves the watermarks of a sync as far as its run has read, never past a slice without a readable answer or the gap of a walk. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../../config/definition.ts';
import { addDays } from '../../day.ts';
import { isSplit } from '../../ledger/requests/skip-for-split.ts';
import { readWatermarks, writeWatermarks } from '../../ledger/watermarks.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { UNREADABLE } from '../../ledger/failures/unreadable-answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { type Days, dayIn } from '../../service/paging.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import {
  daysOf,
  isWithin,
  narrowingFields,
  reachedDay,
  retriedSlices,
  type UnreadSlice,
  parseWindowWatermark,
  type WindowWatermark,
} from '../prepare/window-watermark.ts';
import { watermarkOf, windowWatermarkNames } from '../prepare/watermarks.ts';
import { earliest, moveLogMark, type WatermarkContext } from './move-log-watermark.ts';

/** Moves the watermark of a log, or the window watermarks of its inputs, according to the run's requests. */
export async function moveWatermarks(ops: Ops, context: WatermarkContext): Promise<void> {
  if (context.definition.endpoint.paging.by === 'cursor') await moveLogMark(ops, context);
  await moveWindowMarks(ops, context, await inputEnds(ops, context));
}

/**
 * Removes the slices that a run of failed requests read from those that window watermarks list. The next run would buy the
 * parts of a split slice again. No watermark moves beyond the days that it had reached.
 */
export async function removeReadSlices(ops: Ops, context: WatermarkContext): Promise<void> {
  const ends = await inputEnds(ops, context);
  await moveWindowMarks(
    ops,
    context,
    ends.map((end) => ({ ...end, windows: null })),
  );
}

/** The result of a run's requests for one input. */
interface InputEnd {
  readonly input: RequestBody;
  /** Some slice was read, and each other request was split or must be repeated. */
  readonly done: boolean;
  /** Receipt of the oldest answer; null if no request has an answer or all failed. */
  readonly as_of: string | null;
  /** When the earliest of these answers was requested whose last day had not ended then; null if there is none. */
  readonly sent_at: string | null;
  /** Keys of all requests. */
  readonly keys: readonly string[];
  /** The windows that the plan began with, without their parts or slices of earlier runs. */
  readonly windows: readonly RequestBody[] | null;
  readonly unread: readonly { readonly body: RequestBody; readonly depth: number; readonly as_of: string }[] | null;
}

/** The results of a run for the inputs of a window; empty if the sync has no window. */
async function inputEnds(ops: Ops, { definition, run }: WatermarkContext): Promise<readonly InputEnd[]> {
  const { days } = definition.endpoint.paging;
  if (!days || !definition.window) return [];
  const sentAt = sql`(a.received_at - a.took_ms * interval '1 millisecond')`;
  // An answer about ended days bounds nothing, however old it is.
  const bounding = sql`case when r.body ->> ${days.to} >= to_char(${sentAt} at time zone ${days.timeZone}, 'YYYY-MM-DD')
    then ${sentAt} end`;
  // A fresh answer may turn out unreadable when it is loaded.
  const isUnreadable = sql`(coalesce(a.unreadable, false) and (r.state in ('quarantined', 'fresh')
    or r.state = 'failed' and r.failure_class = ${UNREADABLE}))`;
  const isRefusedOrLost = sql`(r.state in ('missing', 'failed', 'in_doubt') or coalesce(a.status = 412, false))`;
  // Items without a key stay in quarantine.
  const isRead = sql`(r.state in ('loaded', 'empty', 'fresh', 'quarantined') and not ${isUnreadable} and not ${isRefusedOrLost})`;
  const isUnread = sql`(${isUnreadable} or ${isRefusedOrLost})`;
  const received = sql`to_char(coalesce(a.received_at, r.finished_at, r.sent_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return ops
    .selectFrom('requests as r')
    .leftJoin('answers as a', 'a.id', 'r.answer_id')
    .select([
      'r.input',
      // An entity that is unknown in every slice may exist tomorrow, with all its past.
      sql<boolean>`bool_and(${isSplit('r')} or ${isUnread} or ${isRead})
        and (bool_or(${isRead}) or not bool_or(${isRefusedOrLost}))`.as('done'),
      earliest(sql`a.received_at`).as('as_of'),
      earliest(bounding).as('sent_at'),
      sql<string[]>`array_agg(r.request_key)`.as('keys'),
      sql<RequestBody[] | null>`jsonb_agg(r.body) filter (where r.parent_id is null and r.depth = 0)`.as('windows'),
      sql<
        { body: RequestBody; depth: number; as_of: string }[] | null
      >`jsonb_agg(jsonb_build_object('body', r.body, 'depth', r.depth, 'as_of', ${received}) order by r.id) filter (where ${isUnread})`.as(
        'unread',
      ),
    ])
    .where('r.run_id', '=', run.id)
    .groupBy('r.input')
    .execute();
}

async function moveWindowMarks(ops: Ops, context: WatermarkContext, ends: readonly InputEnd[]): Promise<void> {
  const { days } = context.definition.endpoint.paging;
  if (!days || ends.length === 0) return;
  const watermarks = await readWatermarks(ops, context.definition.name);
  const named = ends.map((end) => ({ end, names: windowWatermarkNames(context.definition, end.input) }));
  const now = context.now();
  const moved = new Map<string, string>();
  for (const [name, sharing] of Map.groupBy(named, ({ names }) => names.name)) {
    // Inputs that differ in their count share a watermark, which must not pass what one of them lacks.
    if (!sharing.every(({ end }) => end.done)) continue;
    const marks = sharing.map(({ end, names }) => {
      const before = parseWindowWatermark(watermarkOf(watermarks, names), context.definition, now);
      // If a clock that was ahead set the receipt time, the send time is unknown.
      const isKnown = end.as_of === null || new Date(end.as_of) <= latestKnown(now);
      return isKnown ? watermarkAfter(context.definition, days, before, end) : undefined;
    });
    const known = marks.filter((it) => it !== undefined);
    if (known.length < marks.length) continue;
    const [least] = known.toSorted((a, b) => (a.lastCompleteDay < b.lastCompleteDay ? -1 : 1));
    if (least) moved.set(name, JSON.stringify(least));
  }
  await writeWatermarks(ops, context.definition.name, moved, now);
}

/** Returns the watermark of an input after a run; undefined if the run gives no information about it. */
function watermarkAfter(
  definition: SyncDefinition,
  days: Days,
  before: WindowWatermark | undefined,
  end: InputEnd,
): WindowWatermark | undefined {
  const known = newestKnown(definition, days, before, end);
  // Without windows, the run requested only slices that the watermark lists.
  if (!known || !(end.windows || before?.unread)) return undefined;
  const keys = new Set(end.keys);
  const asked = end.windows ?? [];
  // Slices outside of the window too: a window that is wider again still needs them.
  const kept = (before ? retriedSlices(definition, end.input, before) : []).filter(
    ({ task }) =>
      !keys.has(task.requestKey) &&
      !asked.some((window) => isWithin(days, task.request, window)) &&
      daysOf(days, task.request).to >= known.from,
  );
  const unread: UnreadSlice[] = [
    ...kept.map(({ fields, depth, asOf }) => ({ fields, depth, asOf })),
    ...(end.unread ?? []).map(({ body, depth, as_of: asOf }) => ({
      fields: narrowingFields(definition, end.input, body),
      depth,
      asOf,
    })),
  ];
  if (unread.length === 0) return known;
  const first = unread.map(({ fields }) => daysOf(days, fields).from).reduce((a, b) => (a < b ? a : b));
  const complete = dayBefore(first);
  const { lastCompleteDay: reached, ...rest } = known;
  return { ...rest, lastCompleteDay: complete < reached ? complete : reached, reached, unread };
}

/** How far the window is known, as if every slice had been readable. */
function newestKnown(
  { window }: SyncDefinition,
  days: Days,
  before: WindowWatermark | undefined,
  { windows, as_of: asOf, sent_at: sentAt }: InputEnd,
): WindowWatermark | undefined {
  if (!window) return undefined;
  const to = (windows ?? []).map((it) => daysOf(days, it).to).reduce((a, b) => (a > b ? a : b), '');
  // The run requested only slices of earlier runs.
  if (asOf === null || to === '') return before && withoutUnread(before);
  const read = lastReadDay(days, to, sentAt);
  const joined = before && dayBefore(window.from) <= reachedDay(before) ? before : undefined;
  // An old answer that serves a slice of an earlier run takes nothing back of what was read since.
  const lastCompleteDay = joined && read < reachedDay(joined) ? reachedDay(joined) : read;
  // A narrower window shows nothing new, unless the days that the earlier one requested had not ended.
  if (before && to < before.to && lastCompleteDay <= reachedDay(before)) return withoutUnread(before);
  // The range of the earlier watermark is joined if there is no gap between them.
  return { from: joined?.from ?? window.from, lastCompleteDay, to, asOf };
}

/** The last day that had ended when the earliest of these answers was requested, and at most `to`. */
function lastReadDay({ timeZone }: Days, to: string, sentAt: string | null): string {
  const over = sentAt === null ? to : dayBefore(dayIn(timeZone, new Date(sentAt)));
  return to < over ? to : over;
}

const withoutUnread = (mark: WindowWatermark): WindowWatermark => ({
  from: mark.from,
  lastCompleteDay: reachedDay(mark),
  to: mark.to,
  asOf: mark.asOf,
});

const dayBefore = (day: string): string => addDays(day, -1);
