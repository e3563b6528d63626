/**
 * How far the window of an input is known, and which of its slices must be requested again, because they had no readable
 * answer.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { taskOf } from '../../plan/plan.ts';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { canonicalRequest } from '../../service/request-key.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { type Days, lastEndedDay } from '../../service/paging.ts';
import { type AnswerAge, receivedWithin } from '../../ledger/fresh-answers.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';

/** How far the window of one input is known. */
export interface WindowWatermark {
  /** The first requested day. */
  readonly from: string;
  /** The last day that had ended when it was requested; all days from the first up to it are loaded. */
  readonly lastCompleteDay: string;
  /** The last day that had ended, ignoring unread slices; absent if there are none. */
  readonly reached?: string;
  /** The last requested day. */
  readonly to: string;
  readonly asOf: string;
  /** Slices without a readable answer; absent if there are none. */
  readonly unread?: readonly UnreadSlice[];
}

/** A slice of a window whose answer was unreadable, 412, another refusal or lost, while other slices were read. */
export interface UnreadSlice {
  /** The fields that narrow the input's question to this slice. */
  readonly fields: RequestBody;
  /** How many times the question was split to make it. */
  readonly depth: number;
  /** Receipt of the answer, or when the request failed or was sent; RFC 3339 with microseconds. */
  readonly asOf: string;
}

/**
 * Parses a watermark; undefined if it does not apply to the sync's window. It does not apply to days before its first,
 * or if a clock that was ahead set it.
 */
export function parseWindowWatermark(
  text: string | undefined,
  { window }: Pick<SyncDefinition, 'window'>,
  now: Date,
): WindowWatermark | undefined {
  const watermark = text === undefined ? undefined : (JSON.parse(text) as WindowWatermark);
  return watermark && window && watermark.from <= window.from && new Date(watermark.asOf) <= latestKnown(now)
    ? watermark
    : undefined;
}

/** The day up to which a window is known except for unread slices; later runs start there. */
export const reachedDay = ({ reached, lastCompleteDay }: WindowWatermark): string => reached ?? lastCompleteDay;

/**
 * True if the window needs no request except for unread slices: it was requested up to its end within `max_age`, and
 * after each of its days that has ended now.
 */
export function isCovered(
  { endpoint, window }: Pick<SyncDefinition, 'endpoint' | 'window'>,
  age: AnswerAge | undefined,
  watermark: WindowWatermark,
  { today, now }: { readonly today: string; readonly now: Date },
): boolean {
  const to = window === undefined || window.to === 'today' ? today : window.to;
  const { days } = endpoint.paging;
  const ended = days && lastEndedDay(days.timeZone, to, now);
  return (
    age !== undefined &&
    watermark.to >= to &&
    receivedWithin(age, now).since.getTime() <= Date.parse(watermark.asOf) &&
    (ended === undefined || watermark.from > ended || reachedDay(watermark) >= ended)
  );
}

type RetryDefinition = Pick<SyncDefinition, 'endpoint' | 'request' | 'window'>;

/** An unread slice with the request that repeats it. */
export interface RetriedSlice extends UnreadSlice {
  readonly task: Task;
}

/** The unread slices of a watermark, each with the request that repeats it. */
export const retriedSlices = (
  definition: RetryDefinition,
  input: RequestBody,
  watermark: WindowWatermark,
): RetriedSlice[] =>
  (watermark.unread ?? []).map((slice) => ({
    ...slice,
    task: taskOf(definition, { ...definition.request, ...input, ...slice.fields }, input, slice.depth),
  }));

/** The slices of a watermark to request again: those within the sync's window, and those that the window leaves out. */
export function slicesToRetry(
  definition: RetryDefinition,
  input: RequestBody,
  watermark: WindowWatermark,
): { readonly within: readonly RetriedSlice[]; readonly leftOut: readonly RetriedSlice[] } {
  const { endpoint, window } = definition;
  const { days } = endpoint.paging;
  if (!days || !window) return { within: [], leftOut: [] };
  const { within = [], leftOut = [] } = Object.groupBy(retriedSlices(definition, input, watermark), ({ task }) => {
    const { from, to } = daysOf(days, task.request);
    return to >= window.from && (window.to === 'today' || from <= window.to) ? 'within' : 'leftOut';
  });
  return { within, leftOut };
}

/** The fields that narrow a request compared with its input's question. */
export const narrowingFields = (
  { endpoint, request }: Pick<SyncDefinition, 'endpoint' | 'request'>,
  input: RequestBody,
  body: RequestBody,
): RequestBody => {
  const question = canonicalRequest(endpoint, { ...request, ...input });
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => canonicalJson(value) !== canonicalJson(question[name] ?? null)),
  );
};

/** The first and the last day of a request, YYYY-MM-DD. */
export const daysOf = (days: Days, request: RequestBody): { readonly from: string; readonly to: string } => ({
  from: String(request[days.from]),
  to: String(request[days.to]),
});

/** True if all days of one request are among those of another. */
export function isWithin(days: Days, inner: RequestBody, outer: RequestBody): boolean {
  const [one, other] = [daysOf(days, inner), daysOf(days, outer)];
  return one.from >= other.from && one.to <= other.to;
}

/**
 * Removes overlaps between slices to retry and windows to request. A slice inside a window of the plan is removed, and
 * so is a window inside a slice that covers the input's question.
 */
export function withoutOverlap(
  { endpoint }: Pick<SyncDefinition, 'endpoint'>,
  slices: readonly RetriedSlice[],
  windows: readonly Task[],
): { readonly retried: readonly RetriedSlice[]; readonly rest: readonly Task[] } {
  const { days } = endpoint.paging;
  if (!days) return { retried: [], rest: windows };
  const isIn = (inner: Task, outer: Task): boolean => isWithin(days, inner.request, outer.request);
  const rest = windows.filter((window) => !slices.some(({ depth, task }) => depth === 0 && isIn(window, task)));
  return { retried: slices.filter(({ task }) => !rest.some((window) => isIn(task, window))), rest };
}
