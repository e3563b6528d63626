/** Derives from a full answer the minimum number of items of its days and, by their dates, where most items are. */
import { type DayRange, lengthOf } from '../../day.ts';
import { type ItemEstimate, itemsOf } from './rates.ts';

/** An answer to a window of days. */
export interface DatedAnswer extends DayRange {
  readonly returned: number;
  /** The day of each dated item, in the order of the answer; absent if unknown. */
  readonly days?: readonly number[] | undefined;
}

/** A range that holds at least the returned number of items. */
export interface FullAnswer extends DayRange {
  readonly returned: number;
  /** Items by day. */
  readonly counts?: readonly number[] | undefined;
  /** True for the day at which an answer in date order ended. */
  readonly isCutOff?: boolean;
}

/** Items by day; undefined if too many dates are outside of the requested days. */
export function countsOf(days: readonly number[], requested: DayRange): number[] | undefined {
  const { from, to } = requested;
  const counts = Array.from({ length: Math.max(0, lengthOf(requested)) }, () => 0);
  let outside = 0;
  for (const day of days) {
    if (day < from || day > to) outside++;
    else counts[day - from] = (counts[day - from] ?? 0) + 1;
  }
  return outside > days.length / 10 ? undefined : counts;
}

/**
 * The date order of a full answer up to its end. An answer that covers the complete window was sorted after the service
 * cut it, so its order is `none`.
 */
export function orderOf(
  days: readonly number[],
  requested: DayRange,
): 'rising' | 'falling' | 'one day' | 'none' | 'unknown' {
  if (days.length < LEAST_DATES) return 'unknown';
  const length = lengthOf(requested);
  const reach = days.reduce((a, b) => Math.max(a, b)) - days.reduce((a, b) => Math.min(a, b)) + 1;
  const onLastDay = days.filter((day) => day === days.at(-1)).length;
  if (length > SHORT && reach > length * COVERED && onLastDay <= LAST_TIMES * (1 + days.length / length)) return 'none';
  if (days.every((day) => day === days[0])) return 'one day';
  const pairs = days.slice(1).map((day, index) => day - (days[index] ?? 0));
  if (pairs.every((step) => step >= 0)) return 'rising';
  return pairs.every((step) => step <= 0) ? 'falling' : 'none';
}

/** Fewer items may be in order by chance. */
const LEAST_DATES = 10;
/** Dates may cover this many days by chance. In longer windows, this share counts as complete coverage. */
const SHORT = 7;
const COVERED = 0.9;
/**
 * Exception: the last day has this many times more items than the others, since an answer may end on a busy last day.
 */
const LAST_TIMES = 3;

/** The expected number of sample items in a range before its share is evaluated. */
const JUDGED = 8;
/** A range has a burst if the sample has this many times the expected items. */
const BURST = 1.5;
/** Beyond this many answers' worth of items, a sample has too few items per day to locate them. */
export const MAX_DENSITY_RATIO = 6;
/** The weight of the estimates, in items of the sample. */
const HELD_FOR_ITEMS = 5;

/**
 * The estimates for the days of a full answer, corrected by its dates. If some days have far more items than expected,
 * the remaining items are there too. The other days, as expected, show how large the sample is compared with all items.
 */
export function scaledBySample(
  { counts, returned, isCutOff }: FullAnswer,
  days: readonly ItemEstimate[],
): readonly ItemEstimate[] {
  const expected = itemsOf(days);
  if (!counts || isCutOff === true || expected === 0 || expected > returned * MAX_DENSITY_RATIO) return days;
  let [normalItems, normalCount, bursts] = [0, 0, 0];
  for (let at = 0, items = 0, count = 0; at < days.length; at++) {
    items += days[at]?.items ?? 0;
    count += counts[at] ?? 0;
    const expectedItems = (items * returned) / expected;
    if (expectedItems < JUDGED && at < days.length - 1) continue;
    if (count > expectedItems * BURST + Math.sqrt(expectedItems)) bursts += count;
    else [normalItems, normalCount] = [normalItems + items, normalCount + count];
    [items, count] = [0, 0];
  }
  if (bursts === 0) return days;
  const total = Math.max(
    returned,
    Math.min(returned * MAX_DENSITY_RATIO, (normalItems * returned) / (normalCount + 2)),
  );
  return days.map(({ items, variance }, at) => ({
    items: (total * ((counts[at] ?? 0) + (items / expected) * HELD_FOR_ITEMS)) / (returned + HELD_FOR_ITEMS),
    variance: Math.max(variance, UNSURE),
  }));
}

const UNSURE = 0.1;
/** After a full answer, at least this many times the returned items are assumed to exist. */
export const AT_LEAST = 1.15;
/** A busy day is assumed to have this many times the returned items, if no other such day is known. */
const BUSY_TIMES = 3;
/** The factor for the day at which an answer ended, if it already shows more items than expected. */
const BROKEN_TIMES = 2;

/**
 * The estimates for the days of a full answer, scaled up to the items that it must hold. A day that proves busy gets at
 * least `busyDay`, the typical number of a busy day, if there is one. Known days stay.
 */
export function raisedToFull(
  { from, to, returned, isCutOff }: FullAnswer,
  days: readonly ItemEstimate[],
  busyDay: number | undefined,
): readonly ItemEstimate[] {
  const items = itemsOf(days);
  const isAboveEstimate = isCutOff === true && returned > items * 1.5;
  const isBusy = from === to && (isCutOff !== true || isAboveEstimate);
  const times = isAboveEstimate ? BROKEN_TIMES : isBusy && busyDay === undefined ? BUSY_TIMES : AT_LEAST;
  const least = Math.max(returned * times, isBusy ? (busyDay ?? 0) : 0);
  const open = days.filter(({ variance }) => variance > 0);
  if (items >= least || open.length === 0) return days;
  const movable = itemsOf(open);
  const missing = least - items;
  return days.map((it) =>
    it.variance === 0
      ? it
      : {
          items: movable > 0 ? it.items * (1 + missing / movable) : missing / open.length,
          variance: Math.max(it.variance, UNSURE),
        },
  );
}
