/**
 * The dates of filings. The date is a monotone function of a filing's index, so a window of days is a range of indexes.
 * It does not depend on the current day: over time, filings are added and none changes.
 */
import { type Drawing, happens } from './draw.ts';

export interface FilingCalendar {
  /** The day of a filing, as a number of days since 1970. */
  readonly dayOf: (index: number) => number;
  /** Indexes of the filings from one day to another, both included: `[from, to)`. */
  readonly range: (firstDay: number, lastDay: number) => readonly [from: number, to: number];
}

export const DAY_MS = 86_400_000;
export const FIRST_DAY = Date.UTC(2001, 0, 1) / DAY_MS;
/** At the end of this day, the world has its configured number of filings. */
const COUNTED_TO = Date.UTC(2025, 11, 31) / DAY_MS;
const LAST_DAY = Date.UTC(2045, 11, 31) / DAY_MS;

/** Due dates of reports, as month and day: on them, a single day may have more filings than one answer can hold. */
const DUE = [
  [2, 14],
  [3, 1],
  [5, 15],
  [8, 14],
  [11, 14],
] as const;
const YEARS = Array.from({ length: 45 }, (_, at) => 2001 + at);
/** Numbers of days: writing every day as text to compare it took three quarters of the time to create a world. */
const RUSH = new Set(YEARS.flatMap((year) => DUE.map(([month, day]) => Date.UTC(year, month - 1, day) / DAY_MS)));
const RUSH_WEIGHT = 14;

export function filingCalendar(draw: Drawing, filings: number): FilingCalendar {
  const rest = draw('filing day');
  const days = LAST_DAY - FIRST_DAY + 1;
  const weights = Float64Array.from({ length: days }, (_, at) => weightOf(FIRST_DAY + at, rest(at, 1)));
  let total = 0;
  for (let at = 0; at <= COUNTED_TO - FIRST_DAY; at++) total += weights[at] as number;
  const perWeight = filings / total;

  // starts[at] is the index of a day's first filing; one additional entry ends the last day.
  const starts = new Uint32Array(days + 1);
  for (let at = 0; at < days; at++) {
    const expected = perWeight * (weights[at] as number);
    const rounded = Math.floor(expected) + (happens(rest(at), expected % 1) ? 1 : 0);
    starts[at + 1] = (starts[at] as number) + rounded;
  }
  const startOf = (day: number): number => starts[Math.min(Math.max(day - FIRST_DAY, 0), days)] as number;

  return {
    dayOf: (index) => {
      let [low, high] = [0, days];
      while (low + 1 < high) {
        const middle = (low + high) >>> 1;
        if ((starts[middle] as number) <= index) low = middle;
        else high = middle;
      }
      return FIRST_DAY + low;
    },
    range: (firstDay, lastDay) => [startOf(firstDay), Math.max(startOf(firstDay), startOf(lastDay + 1))],
  };
}

/** No filings on weekends, and more from year to year. */
function weightOf(day: number, drawn: number): number {
  const weekday = (day + 4) % 7;
  if (weekday === 0 || weekday === 6) return 0;
  const growth = 1 + (day - FIRST_DAY) / (365 * 12);
  const rush = RUSH.has(day) ? RUSH_WEIGHT : 1;
  return growth * rush * (0.6 + (drawn % 1000) / 1250);
}

/** A number of days since 1970 as YYYY-MM-DD. */
export const isoDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
/** A YYYY-MM-DD date as a number of days since 1970. */
export const dayNumber = (iso: string): number => Date.parse(`${iso}T00:00:00Z`) / DAY_MS;
