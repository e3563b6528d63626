/** Turns a sync and its inputs into the requests to begin with. Pure: what the warehouse and the clock say comes in as facts. */
import type { SyncDefinition } from '../config/definition.ts';
import { DAY_MS } from '../config/values/quantity.ts';
import { UsageError } from '../errors.ts';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { canonicalRequest, requestKeyOf } from '../service/request-key.ts';
import { isoDay } from '../service/request.ts';
import { instantText, microsOf } from '../service/instant.ts';
import type { Task } from './task.ts';

export interface PlanContext {
  /** The UTC day on which the plan is made, YYYY-MM-DD. */
  readonly today: string;
  /** Of a window: the last day up to which, from the window's first day, every answer was complete. */
  readonly lastCompleteDay?: string | undefined;
  /** Of the request log: the instant up to which it was read. */
  readonly logWatermark?: string | undefined;
  /** `sync --from`, YYYY-MM-DD: where to begin, whatever was read before. */
  readonly from?: string | undefined;
  /** `sync --to`, YYYY-MM-DD, the last day. */
  readonly to?: string | undefined;
}

/** Any page of the log costs the same, so the largest is asked for. */
const LOG_PAGE = 100;

/** The requests that a sync begins with, each once, in the order of its inputs. Throws a UsageError when `from` is after `to`. */
export function planTasks(definition: SyncDefinition, inputs: readonly RequestBody[], facts: PlanContext): Task[] {
  checkDays(definition, facts);
  const tasks = new Map<string, Task>();
  for (const input of inputs) {
    const asked = { ...definition.request, ...input };
    for (const time of timesOf(definition, asked, facts)) {
      const task = taskOf(definition, { ...time, ...asked }, input, 0);
      if (!tasks.has(task.requestKey)) tasks.set(task.requestKey, task);
    }
  }
  return [...tasks.values()];
}

/**
 * The task that asks with this body: fields set by the config, the input and paging, and no default that nobody set.
 * Throws a ZodError when the body breaks the contract.
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

function timesOf(definition: SyncDefinition, asked: RequestBody, facts: PlanContext): RequestBody[] {
  switch (definition.endpoint.paging.by) {
    case 'window':
      return windowsOf(definition, facts);
    case 'cursor':
      return logDays(definition, asked, facts);
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
    );
  const again =
    facts.lastCompleteDay === undefined ? first : dayBefore(facts.lastCompleteDay, Math.ceil(lookbackMs / DAY_MS));
  const from = facts.from === undefined && again > first ? again : first;
  return from > to ? [] : [{ [fields.from]: from, [fields.to]: to }];
}

function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - days * DAY_MS).toISOString().slice(0, 10);
}

/** One request a UTC day, the last without an end: the mark moves per day, so a walk that was cut short loses a day at most. */
function logDays(definition: SyncDefinition, asked: RequestBody, facts: PlanContext): RequestBody[] {
  const page = { limit: LOG_PAGE };
  if (asked['start_time'] !== undefined || asked['end_time'] !== undefined) return [page];
  const start = logStart(definition, facts);
  if (start === undefined) return [facts.to === undefined ? page : { ...page, end_time: dayStart(facts.to, 1) }];
  const last = facts.to ?? facts.today;
  const days = daysFrom(start.slice(0, 10), last);
  if (days.length === 0) {
    if (facts.to === undefined) return [{ ...page, start_time: start }];
    throw new UsageError(
      `${definition.name}: the log would be read from ${start.slice(0, 10)} to ${last}; allowed is a first day that is not after the last`,
    );
  }
  return days.map((day, at) => ({
    ...page,
    start_time: at === 0 ? start : dayStart(day, 0),
    ...((at < days.length - 1 || facts.to !== undefined) && { end_time: dayStart(day, 1) }),
  }));
}

/** In UTC with microseconds; undefined when the log is read from its beginning. */
function logStart({ from, lookbackMs }: SyncDefinition, facts: PlanContext): string | undefined {
  if (facts.from !== undefined) return dayStart(facts.from, 0);
  const mark = facts.logWatermark === undefined ? undefined : microsOf(facts.logWatermark);
  if (mark !== undefined) return instantText(mark - BigInt(lookbackMs) * 1000n);
  const first = from === undefined ? undefined : microsOf(from);
  return first === undefined ? undefined : instantText(first);
}

const dayStart = (day: string, plusDays: number): string =>
  `${new Date(Date.parse(`${day}T00:00:00Z`) + plusDays * DAY_MS).toISOString().slice(0, 10)}T00:00:00.000000Z`;

function daysFrom(first: string, last: string): string[] {
  const days: string[] = [];
  for (let day = first; day <= last; day = dayBefore(day, -1)) days.push(day);
  return days;
}
