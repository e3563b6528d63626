/** How items are distributed over the days of the week, learned from their dates. */
import { weekdayOf } from '../../day.ts';

export interface Rhythm {
  /** The relative number of items of a day; about 1 for a working day. */
  readonly weightOf: (day: number) => number;
  /** The total weight of a range of days, both ends included. */
  readonly between: (from: number, to: number) => number;
  /** Adds complete days: the items of each day, beginning with `from`. */
  readonly learn: (from: number, counts: readonly number[]) => void;
}

/** Assumed: offices are closed at weekends. The dates of a week or two correct it. */
const DEFAULT_WEIGHTS = [0.05, 1, 1, 1, 1, 1, 0.05];
/** The number of weeks of dates with the same weight as the assumption. */
const HELD_FOR_WEEKS = 1;

export function rhythm(): Rhythm {
  const items = [0, 0, 0, 0, 0, 0, 0];
  const days = [0, 0, 0, 0, 0, 0, 0];
  let weights: readonly number[] = DEFAULT_WEIGHTS;
  let week = sum(DEFAULT_WEIGHTS);
  const weightOf = (day: number): number => weights[weekdayOf(day)] ?? 0;
  return {
    weightOf,
    between: (from, to) => {
      const weeks = Math.floor((to - from + 1) / 7);
      let total = weeks * week;
      for (let day = from + weeks * 7; day <= to; day++) total += weightOf(day);
      return total;
    },
    learn: (from, counts) => {
      counts.forEach((count, index) => {
        const weekday = weekdayOf(from + index);
        items[weekday] = (items[weekday] ?? 0) + count;
        days[weekday] = (days[weekday] ?? 0) + 1;
      });
      // A weekday's average is relative to the days of the assumed week: seven equal weekdays weigh 5.1 / 7 each.
      const rate =
        sum(items) /
        Math.max(
          1,
          days.reduce((all, n, at) => all + n * (DEFAULT_WEIGHTS[at] ?? 0), 0),
        );
      if (rate === 0) return;
      weights = DEFAULT_WEIGHTS.map(
        (assumed, index) =>
          ((items[index] ?? 0) / rate + assumed * HELD_FOR_WEEKS) / ((days[index] ?? 0) + HELD_FOR_WEEKS),
      );
      week = sum(weights);
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, it) => total + it, 0);
