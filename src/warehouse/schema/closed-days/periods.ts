/** SQL of days and periods, and the form of sums that are stored by day. */

/** Days that ended less than this number of days ago are never stored, because their rows still change. */
const YOUNG_DAYS = 2;

/** SQL for the newest day that may be stored: it ended at least 48 hours ago. */
export const NEWEST_CLOSED = `((now() at time zone 'UTC')::date - ${YOUNG_DAYS + 1})`;

/** SQL for the UTC day of an instant. */
export const dayOf = (instant: string): string => `(${instant} at time zone 'UTC')::date`;

/** SQL for the periods of days: their first and last instants. The resolution of a timestamp is a microsecond. */
export const periodsOf = (days: string): string => `(
      select d.day::timestamp at time zone 'UTC' as starts_at, (d.day + 1)::timestamp at time zone 'UTC' - interval '1 microsecond' as ends_at
      from unnest(${days}) as d(day)
    )`;

/** Sums that are stored by day: the table, its columns except the id, and SQL for the sums over some periods. */
export interface DaySums {
  readonly table: string;
  readonly columns: readonly string[];
  readonly over: (periods: string) => string;
}
