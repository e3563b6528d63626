/**
 * Converts a sync and its inputs into its first requests. Pure: facts from the warehouse and the clock are parameters.
 */
import type { SyncDefinition } from '../config/definition.ts';
import { addDays, DAY_MS, daysFrom } from '../day.ts';
import { UsageError } from '../errors.ts';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { canonicalRequest, requestKeyOf } from '../service/request-key.ts';
import { isoDay } from '../service/request.ts';
import { instantText, microsOf } from '../service/instant.ts';
import type { Task } from './task.ts';

export interface PlanContext {
  /** The UTC day of the plan, YYYY-MM-DD. */
  readonly today: string;
  /** Window paging only: the last day up to which all answers are complete, counted from the window's first day. */
  readonly lastCompleteDay?: string | undefined;
  /** Request log only: the instant up to which the log was read. */
  readonly logWatermark?: string | undefined;
  /** `sync --from`, YYYY-MM-DD: the first day, independent of earlier runs. */
  readonly from?: string | undefined;
  /** `sync --to`, YYYY-MM-DD: the last day. Without `from`, the first day depends on earlier runs. */
  readonly to?: string | undefined;
}

const CORRECT_DAYS = 'Correct --from, --to, or the days of the sync in the config.';

/** All pages of the log cost the same, so the largest is requested. */
const LOG_PAGE = 100;

/**
 * The first requests of a sync without duplicates, in the order of its inputs. Throws a UsageError if `from` is after
 * `to`, or if earlier runs leave nothing to request up to `to`.
 */
export function planTasks(definition: SyncDefinition, inputs: readonly RequestBody[], facts: PlanContext): Task[] {
  checkDays(definition, facts);
  const tasks = new Map<string, Task>();
  for (const input of inputs) {
    const fields = { ...definition.request, ...input };
    for (const time of timesOf(definition, fields, facts)) {
      const task = taskOf(definition, { ...time, ...fields }, input, 0);
      if (!tasks.has(task.requestKey)) tasks.set(task.requestKey, task);
    }
  }
  return [...tasks.values()];
}

/**
 * The task for this body: the fields set by the config, the input and paging, without unset defaults. Throws a ZodError
 * if the body breaks the contract.
 */
export function taskOf(
  { endpoint }: { readonly endpoint: Endpoint },
  body: RequestBody,
  input: RequestBody,
  depth: number,
): Task {
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
  const request = canonicalRequest(endpoint, sent);
  return { requestKey: requestKeyOf(endpoint.name, request), request, body: sent, input, depth };
}

function checkDays({ name }: SyncDefinition, { from, to }: PlanContext): void {
  for (const [flag, day] of Object.entries({ from, to })) {
    if (day === undefined || isoDay.safeParse(day).success) continue;
    throw new UsageError(
      `${name}: --${flag} is ${JSON.stringify(day)}; allowed is a day of the calendar written YYYY-MM-DD`,
    );
  }
}

function timesOf(definition: SyncDefinition, fields: RequestBody, facts: PlanContext): RequestBody[] {
  switch (definition.endpoint.paging.by) {
    case 'window':
      return windowsOf(definition, facts);
    case 'cursor':
      return logDays(definition, fields, facts);
    case 'count':
    case 'once':
      return [{}];
  }
}

function windowsOf({ name, endpoint, window, lookbackMs }: SyncDefinition, facts: PlanContext): RequestBody[] {
  const fields = endpoint.paging.days;
  if (!window || !fields) return [{}];
  const to = facts.to ?? (window.to === 'today' ? facts.today : window.to);
  const first = facts.from ?? window.from;
  if (first > to)
    throw new UsageError(
      `${name}: the first day is ${first}, after the last, ${to}; allowed is a first day that is not after the last`,
      { next: CORRECT_DAYS },
    );
  const again =
    facts.lastCompleteDay === undefined ? first : addDays(facts.lastCompleteDay, -Math.ceil(lookbackMs / DAY_MS));
  const from = facts.from === undefined && again > first ? again : first;
  if (from <= to) return [{ [fields.from]: from, [fields.to]: to }];
  if (facts.to === undefined) return [];
  throw new UsageError(`${name}: an earlier run requested the days up to ${facts.to}, the day of --to`, {
    next: 'Add --from to request days again.',
  });
}

/**
 * One request per UTC day, the last without an end. The watermark moves per day, so an interrupted walk loses at most a
 * day. A day ends a second after the start of the next one, because the contract does not say whether a row at exactly
 * the start or the end is included, and a service may cut times to seconds.
 */
function logDays(definition: SyncDefinition, fields: RequestBody, facts: PlanContext): RequestBody[] {
  const page = { limit: LOG_PAGE };
  if (hasFixedTimes(fields)) return [page];
  const start = logStart(definition, facts);
  if (start === undefined) return [facts.to === undefined ? page : { ...page, end_time: dayStart(facts.to, 1) }];
  const last = facts.to ?? facts.today;
  const days = daysFrom(start.slice(0, 10), last);
  if (days.length === 0) {
    if (facts.to === undefined) return [{ ...page, start_time: start }];
    throw new UsageError(
      `${definition.name}: the log would be read from ${start.slice(0, 10)} to ${last}; allowed is a first day that is not after the last`,
      { next: CORRECT_DAYS },
    );
  }
  return days.map((day, index) => ({
    ...page,
    start_time: index === 0 ? start : dayStart(day, 0),
    ...(index < days.length - 1
      ? { end_time: dayStart(day, 1).replace('00:00:00', '00:00:01') }
      : facts.to !== undefined && { end_time: dayStart(day, 1) }),
  }));
}

/** True if these fields of a log request set its times, so that neither a watermark nor an option does. */
export const hasFixedTimes = (fields: RequestBody): boolean =>
  fields['start_time'] !== undefined || fields['end_time'] !== undefined;

/** In UTC with microseconds; undefined if the log is read from its beginning. */
function logStart({ from, lookbackMs }: SyncDefinition, facts: PlanContext): string | undefined {
  if (facts.from !== undefined) return dayStart(facts.from, 0);
  const watermark = facts.logWatermark === undefined ? undefined : microsOf(facts.logWatermark);
  if (watermark !== undefined) return instantText(watermark - BigInt(lookbackMs) * 1000n);
  const first = from === undefined ? undefined : microsOf(from);
  return first === undefined ? undefined : instantText(first);
}

const dayStart = (day: string, plusDays: number): string => `${addDays(day, plusDays)}T00:00:00.000000Z`;
