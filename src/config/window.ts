/** Where a sync's questions begin and end in time: the window of a search, the start of the log's first walk. */
import * as z from 'zod';
import type { Endpoint } from '../service/endpoint.ts';
import { instant, isoDay } from '../service/request.ts';
import { microsOf } from '../service/instant.ts';
import { check, foundIn } from './check.ts';
import type { Window } from './definition.ts';
import type { ReportProblem } from './document/problem.ts';
import { duration } from './values/quantity.ts';
import { type MapEntry, entryOf, type Tree } from './document/tree.ts';

/** The word for the day on which a plan is made. */
const TODAY = 'today';

const TO = `allowed is ${TODAY}, or a day written YYYY-MM-DD`;

/** A sync's `window`. */
export const windowSchema = z
  .strictObject({
    from: isoDay.describe('First day to ask for, YYYY-MM-DD.'),
    to: z
      .string({ error: TO })
      .refine((text) => text === TODAY || isoDay.safeParse(text).success, TO)
      .default(TODAY)
      .describe('Last day to ask for, YYYY-MM-DD, or today.'),
    lookback: duration
      .optional()
      .describe('How far before its last complete day a later run asks again; 7d by default.'),
  })
  .describe('Days to ask for; a full answer is asked again in parts of them.');

/** A sync's window with its lookback, or undefined when something was reported. */
export function windowOf(
  { name, paging }: Endpoint,
  { keySpan, value }: MapEntry,
  report: ReportProblem,
): (Window & { readonly lookbackMs: number | undefined }) | undefined {
  if (paging.by !== 'window') {
    report(keySpan, `${name} has no dates to ask by, so it takes no window; remove it`);
    return undefined;
  }
  const checked = check(windowSchema, value, report, keySpan);
  if (!checked) return undefined;
  const { from, to, lookback: lookbackMs } = checked.value;
  if (to !== TODAY && from > to) {
    report(
      entryOf(value, 'from')?.value.span ?? keySpan,
      `from is ${from}, after to, ${to}; allowed is a first day that is not after the last`,
    );
    return undefined;
  }
  return { from, to, lookbackMs };
}

/** The instant at which the log's first walk begins; refuses `from` and `lookback` for any other endpoint. */
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
      report(entry.keySpan, `${entry.key} is for token.requests only, and this is ${name}${instead}`);
    }
    return undefined;
  }
  const set = entryOf(entryOf(sync, 'request')?.value, 'start_time');
  if (at && set) report(set.keySpan, 'start_time is filled in by from; remove one of them');
  if (from === undefined || !at) return undefined;
  if (isoDay.safeParse(from).success) return `${from}T00:00:00Z`;
  if (instant.safeParse(from).success && microsOf(from) !== undefined) return from;
  report(
    at.value.span,
    `from is ${foundIn(at.value)}; allowed is a day written YYYY-MM-DD, or an instant such as 2024-01-01T00:00:00Z`,
  );
  return undefined;
}
