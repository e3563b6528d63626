/** The times at which schedules fire: the engine enqueues its jobs by them, and plans and forecasts show them. */
import type { SyncDefinition } from '../config/definition.ts';
import { type Cron, readCron } from '../config/values/cron.ts';
import { DAY_MS, MINUTE_MS, weekdayOf } from '../day.ts';

export type SyncSchedule = NonNullable<SyncDefinition['schedule']>;

const HOURS_OF_A_DAY = 24;

/**
 * Returns the next firings after an instant, at most `most`. In spring, a firing in the skipped hour is an hour later; in
 * autumn, a firing at a fixed hour is in the first of the repeated hours only.
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
  const times = readCron(cron);
  // Another version wrote it.
  if (typeof times === 'string') return;
  const offsetAt = offsetsIn(timezone);
  let last = after.getTime();
  for (let day = Math.floor(last / DAY_MS) - 1; ; day += 1) {
    if (!matches(times, day)) continue;
    for (const firing of firingsOn(times, day * DAY_MS, offsetAt)) {
      if (firing <= last) continue;
      yield new Date(firing);
      last = firing;
    }
  }
}

function matches({ days, months, weekdays }: Cron, day: number): boolean {
  const date = new Date(day * DAY_MS);
  if (!months.includes(date.getUTCMonth() + 1)) return false;
  const isDay = days?.includes(date.getUTCDate());
  const isWeekday = weekdays?.includes(weekdayOf(day));
  return isDay === undefined ? (isWeekday ?? true) : isDay || (isWeekday ?? false);
}

/** The instants, in order, at which the clocks of the time zone show the times of a day, which is given by its midnight in UTC. */
function firingsOn({ minutes, hours }: Cron, midnight: number, offsetAt: (instant: number) => number): number[] {
  const [before, after] = [offsetAt(midnight - DAY_MS), offsetAt(midnight + 2 * DAY_MS)];
  const firings = hours.flatMap((hour) =>
    minutes.flatMap((minute) => {
      const shown = midnight + (hour * 60 + minute) * MINUTE_MS;
      if (before === after) return [shown - before];
      const instants = [shown - before, shown - after].filter((instant) => instant + offsetAt(instant) === shown);
      // A schedule for every hour follows the elapsed time.
      if (hours.length === HOURS_OF_A_DAY) return instants;
      return [instants.length > 0 ? Math.min(...instants) : shown - before];
    }),
  );
  return firings.toSorted((a, b) => a - b);
}

/** Returns by how much the clocks of a time zone are ahead of UTC, in milliseconds. */
function offsetsIn(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (instant) => {
    const parts = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(parts) ?? [];
    return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  };
}
