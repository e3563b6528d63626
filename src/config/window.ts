/** The time limits of a sync: the window of a search, and the start of the first walk through the log. */
import * as z from 'zod';
import type { Endpoint } from '../service/endpoint.ts';
import { instant, isoDay } from '../service/request.ts';
import { microsOf } from '../service/instant.ts';
import { check, foundIn } from './check.ts';
import type { Window } from './definition.ts';
import type { ReportProblem } from './document/problem.ts';
import { duration } from './values/quantity.ts';
import { type MapEntry, entryOf, type Tree } from './document/tree.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';

/** The word for the day of the plan. */
const TODAY = 'today';

const TO = `allowed is ${TODAY}, or a day written YYYY-MM-DD`;

/** A sync's `window`. */
export const windowSchema = z
  .strictObject({
    from: isoDay.describe('First day to request, YYYY-MM-DD.'),
    to: z
      .string({ error: TO })
      .refine((text) => text === TODAY || isoDay.safeParse(text).success, TO)
      .default(TODAY)
      .describe('Last day to request, YYYY-MM-DD, or today (default: today).'),
    lookback: duration
      .optional()
      .describe('How far before the last complete day a later run requests again (default: 7d).'),
  })
  .describe('Days to request. A full answer is split into shorter windows.');

/** A sync's window with its lookback, or undefined if a problem was reported. */
export function windowOf(
  { name, paging }: Endpoint,
  { keySpan, value }: MapEntry,
  report: ReportProblem,
): (Window & { readonly lookbackMs: number | undefined }) | undefined {
  if (paging.by !== 'window') {
    report(keySpan, `${name} can't be limited by dates, so it takes no window; remove it`);
    return undefined;
  }
  const checked = check(windowSchema, value, report, keySpan);
  if (!checked) return undefined;
  const { from, to, lookback: lookbackMs } = checked.value;
  if (to !== TODAY && from > to) {
    report(
      entryOf(value, 'from')?.value.span ?? keySpan,
      `from is ${from}, after to, ${to}; allowed is a first day on or before the last`,
    );
    return undefined;
  }
  return { from, to, lookbackMs };
}

/** Times in the request of a walk through the log that contradict its `from`, each with the problem. */
const FIXED_TIMES = {
  start_time: 'start_time is filled in by from; remove one of them',
  end_time: 'end_time fixes the times of the log, so from has no effect; write start_time instead of from',
};

/** The start of the first walk through the log. Reports `from` and `lookback` for any other endpoint. */
export function logStartOf(
  { name, paging }: Endpoint,
  sync: Tree,
  from: string | undefined,
  report: ReportProblem,
): string | undefined {
  const at = entryOf(sync, 'from');
  if (paging.by !== 'cursor') {
    for (const entry of [at, entryOf(sync, 'lookback')]) {
      if (!entry) continue;
      const instead = paging.by === 'window' ? `; write window: { ${entry.key}: ... }` : '; remove it';
      report(entry.keySpan, `${entry.key} is for ${LOG_ENDPOINT} only, and this is ${name}${instead}`);
    }
    return undefined;
  }
  const request = entryOf(sync, 'request')?.value;
  for (const [field, message] of Object.entries(FIXED_TIMES)) {
    const set = entryOf(request, field);
    if (at && set) report(set.keySpan, message);
  }
  if (from === undefined || !at) return undefined;
  if (isoDay.safeParse(from).success) return `${from}T00:00:00Z`;
  if (instant.safeParse(from).success && microsOf(from) !== undefined) return from;
  report(
    at.value.span,
    `from is ${foundIn(at.value)}; allowed is a day written YYYY-MM-DD, or an instant such as 2024-01-01T00:00:00Z`,
  );
  return undefined;
}
