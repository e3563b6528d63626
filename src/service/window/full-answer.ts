/** What a full answer tells of the days it came from: at least so much, and by its dates where most of it lies. */
import type { ItemEstimate } from './estimate.ts';

/** An answer to a window of days, as numbers, both ends included. */
export interface DatedAnswer {
  readonly from: number;
  readonly to: number;
  readonly returned: number;
  /** The day of each item that tells one, in the order of the answer; absent when that is not known. */
  readonly days?: readonly number[];
}

/** Days that hold at least what was returned. */
export interface FullAnswer {
  readonly from: number;
  readonly to: number;
  readonly returned: number;
  /** Items by day. */
  readonly counts?: readonly number[] | undefined;
  /** An answer in the order of dates broke off on this day. */
  readonly isCutOff?: boolean;
}

/** Items by day; undefined when the dates are not those asked for, so that they say nothing. */
export function countsOf(days: readonly number[], from: number, to: number): number[] | undefined {
  const counts = Array.from({ length: Math.max(0, to - from + 1) }, () => 0);
  let outside = 0;
  for (const day of days) {
    if (day < from || day > to) outside++;
    else counts[day - from] = (counts[day - from] ?? 0) + 1;
  }
  return outside > days.length / 10 ? undefined : counts;
}

/**
 * The order of dates in which a full answer runs through its window until it breaks off. One that reaches the other end
 * all the same was put in order after it was cut off: that is none.
 */
export function orderOf(
  days: readonly number[],
  from: number,
  to: number,
): 'rising' | 'falling' | 'one day' | 'none' | 'unknown' {
  if (days.length < TELLING) return 'unknown';
  const length = to - from + 1;
  const reach = Math.max(...days) - Math.min(...days) + 1;
  const last = days.filter((day) => day === days.at(-1)).length;
  if (length > SHORT && reach > length * WHOLE && last <= LAST_TIMES * (1 + days.length / length)) return 'none';
  if (days.every((day) => day === days[0])) return 'one day';
  const pairs = days.slice(1).map((day, at) => day - (days[at] ?? 0));
  if (pairs.every((step) => step >= 0)) return 'rising';
  return pairs.every((step) => step <= 0) ? 'falling' : 'none';
}

/** Fewer items may be in order by chance. */
const TELLING = 10;
/** So many days may be reached whole by chance, and so much of more days is the whole of them. */
const SHORT = 7;
const WHOLE = 0.9;
/** Unless the last day has so many times more than others: an answer may well break off on a busy day at the end. */
const LAST_TIMES = 3;

/** Items that a stretch of days should have among the sample before its share is judged. */
const JUDGED = 8;
/** A stretch holds a burst when the sample has so many times more of it than was expected. */
const BURST = 1.5;
/** Beyond so many answers' worth, a sample has too few items a day to say where they lie. */
export const MAX_DENSITY_RATIO = 6;
/** Guesses worth so many items of the sample. */
const HELD_FOR_ITEMS = 5;

/**
 * The guesses for the days of a full answer, with what its dates say: where it holds far more of some days than was
 * expected, that is where the rest is too. The other days, as expected, tell how large a part of all the sample is.
 */
export function scaledBySample(
  { counts, returned, isCutOff }: FullAnswer,
  days: readonly ItemEstimate[],
): readonly ItemEstimate[] {
  const expected = sum(days.map(({ items }) => items));
  if (!counts || isCutOff === true || expected === 0 || expected > returned * MAX_DENSITY_RATIO) return days;
  let [usualItems, usualCount, bursts] = [0, 0, 0];
  for (let at = 0, items = 0, count = 0; at < days.length; at++) {
    items += days[at]?.items ?? 0;
    count += counts[at] ?? 0;
    const due = (items * returned) / expected;
    if (due < JUDGED && at < days.length - 1) continue;
    if (count > due * BURST + Math.sqrt(due)) bursts += count;
    else [usualItems, usualCount] = [usualItems + items, usualCount + count];
    [items, count] = [0, 0];
  }
  if (bursts === 0) return days;
  const total = Math.max(returned, Math.min(returned * MAX_DENSITY_RATIO, (usualItems * returned) / (usualCount + 2)));
  return days.map(({ items, variance }, at) => ({
    items: (total * ((counts[at] ?? 0) + (items / expected) * HELD_FOR_ITEMS)) / (returned + HELD_FOR_ITEMS),
    variance: Math.max(variance, UNSURE),
  }));
}

const UNSURE = 0.1;
/** A full answer held a little more than was returned, at the least. */
const AT_LEAST = 1.15;
/** A day at which an answer broke off is busier than was thought when it shows more than that already. */
const BROKEN_TIMES = 2;

/**
 * The guesses for the days of a full answer, raised until they add up to what it must hold; a day that turns out busy, to
 * what `busyDay`s typically hold. Days known for sure stay.
 */
export function raisedToFull(
  { from, to, returned, isCutOff }: FullAnswer,
  days: readonly ItemEstimate[],
  busyDay: number,
): readonly ItemEstimate[] {
  const items = sum(days.map((it) => it.items));
  const isBusier = isCutOff === true && returned > items * 1.5;
  const isBusy = from === to && (isCutOff !== true || isBusier);
  const least = Math.max(returned * (isBusier ? BROKEN_TIMES : AT_LEAST), isBusy ? busyDay : 0);
  const open = days.filter(({ variance }) => variance > 0);
  if (items >= least || open.length === 0) return days;
  const movable = sum(open.map((it) => it.items));
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

const sum = (numbers: readonly number[]): number => numbers.reduce((total, it) => total + it, 0);
