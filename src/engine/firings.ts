/** The times at which schedules fire, computed by the library that the job queue uses. */
import { CronExpressionParser } from 'cron-parser';
import type { SyncDefinition } from '../config/definition.ts';

export type SyncSchedule = NonNullable<SyncDefinition['schedule']>;

/**
 * Returns the next firings after an instant, at most `most`; fewer for an expression that fires less often in the range
 * of the library.
 */
export function firingsOf({ cron, timezone }: SyncSchedule, after: Date, most: number): readonly Date[] {
  const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: after });
  const firings: Date[] = [];
  while (firings.length < most && times.hasNext()) firings.push(times.next().toDate());
  return firings;
}

/** Returns the firings after an instant, up to another. */
export function firingsUntil({ cron, timezone }: SyncSchedule, after: Date, until: Date): readonly Date[] {
  const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: after, endDate: until });
  const firings: Date[] = [];
  while (times.hasNext()) firings.push(times.next().toDate());
  return firings;
}
