/** The times at which schedules fire: the engine enqueues its jobs by them, and plans and forecasts show them. */
import { CronExpressionParser } from 'cron-parser';
import type { SyncDefinition } from '../config/definition.ts';
import { DAY_MS } from '../day.ts';

export type SyncSchedule = NonNullable<SyncDefinition['schedule']>;

/** The library is right about the hour in which clocks change only if it starts before that hour. */
const BEFORE_MS = DAY_MS / 8;
/** The library finds no firing around some changes, such as that by half an hour on Lord Howe Island. The next search starts later. */
const SKIPPED_MS = DAY_MS / 2;
const MOST_SKIPPED = 8;

/**
 * Returns the next firings after an instant, at most `most`. In spring, a firing in the skipped hour is an hour later; in
 * autumn, a firing at a fixed hour is in one of the repeated hours only.
 */
export const firingsOf = (schedule: SyncSchedule, after: Date, most: number): readonly Date[] =>
  firingsAfter(schedule, after).take(most).toArray();

/** Returns the firings after an instant, up to another. */
export function firingsUntil(schedule: SyncSchedule, after: Date, until: Date): readonly Date[] {
  const firings: Date[] = [];
  for (const firing of firingsAfter(schedule, after)) {
    if (firing > until) break;
    firings.push(firing);
  }
  return firings;
}

function* firingsAfter({ cron, timezone }: SyncSchedule, after: Date): Generator<Date, void> {
  let from = after.getTime() - BEFORE_MS;
  let last = after;
  for (let skipped = 0; skipped < MOST_SKIPPED; skipped += 1) {
    const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: new Date(from) });
    while (times.hasNext()) {
      const firing = times.next().toDate();
      if (firing <= last) continue;
      yield firing;
      last = firing;
    }
    from = Math.max(from, last.getTime()) + SKIPPED_MS;
  }
}
