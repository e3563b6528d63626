/** Calendar days in UTC: as texts, as numbers for counting, and as milliseconds. */

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The UTC day of an instant, written YYYY-MM-DD. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The day, written YYYY-MM-DD, as a number of days since 1970. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

/** The day of that number, written YYYY-MM-DD. */
export const dayText = (number: number): string => dayOf(new Date(number * DAY_MS));

/** The day that is `days` days later, or earlier if negative. */
export const addDays = (day: string, days: number): string => dayText(dayNumber(day) + days);

/** A range of days, as numbers, both ends included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The number of days of a range. */
export const lengthOf = ({ from, to }: DayRange): number => to - from + 1;

/** True if two ranges share a day. */
export const overlap = (one: DayRange, other: DayRange): boolean => one.from <= other.to && one.to >= other.from;

/** The days in both ranges; without any, the end is before the beginning. */
export const sharedDays = (one: DayRange, other: DayRange): DayRange => ({
  from: Math.max(one.from, other.from),
  to: Math.min(one.to, other.to),
});

/** Every day from the first to the last. */
export const daysFrom = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, dayNumber(last) - dayNumber(first) + 1) }, (_, index) => addDays(first, index));

/** 0 for a Sunday to 6 for a Saturday. 1970 began on a Thursday. */
export const weekdayOf = (number: number): number => (((number + 4) % 7) + 7) % 7;

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Days of each month, in a leap year. */
export const LONGEST_MONTHS: readonly number[] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * True if the text is a YYYY-MM-DD date that exists. Does not create a Date, since answers hold too many dates for
 * that.
 */
export function onCalendar(text: string): boolean {
  const [, year, month, day] = DAY.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const most = month === 2 && !isLeap ? 28 : (LONGEST_MONTHS[month - 1] ?? 0);
  return day >= 1 && day <= most;
}
