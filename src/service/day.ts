/** Calendar days as numbers, so that windows can be counted and cut. */

const DAY_MS = 86_400_000;

/** The day, written YYYY-MM-DD, as a number of days since 1970. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

/** The day of that number, written YYYY-MM-DD. */
export const dayText = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10);

/** 0 for a Sunday to 6 for a Saturday. 1970 began on a Thursday. */
export const weekdayOf = (number: number): number => (((number + 4) % 7) + 7) % 7;
