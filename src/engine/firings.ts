/** When schedules fire, reckoned by the library that the job queue fires them with. */
import { CronExpressionParser } from 'cron-parser';
import type { SyncDefinition } from '../config/definition.ts';

export type SyncSchedule = NonNullable<SyncDefinition['schedule']>;

/** The next firings after an instant, at most so many; fewer of an expression that fires less often in what years one can plan for. */
export function firingsOf({ cron, timezone }: SyncSchedule, after: Date, most: number): readonly Date[] {
  const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: after });
  const firings: Date[] = [];
  while (firings.length < most && times.hasNext()) firings.push(times.next().toDate());
  return firings;
}
