/** How items spread over the days of the week, learned from their dates. */
import { weekdayOf } from '../day.ts';

export interface Rhythm {
  /** How much a day may hold beside others; about 1 for a working day. */
  readonly weightOf: (day: number) => number;
  /** The weights of days from one to another, both included. */
  readonly between: (from: number, to: number) => number;
  /** Takes in days that are known whole: the items of each day from `from` on. */
  readonly learn: (from: number, counts: readonly number[]) => void;
}

/** Assumed: offices are closed at weekends. The dates of a week or two correct it. */
const USUAL = [0.05, 1, 1, 1, 1, 1, 0.05];
/** Weeks of dates that count as much as the assumption. */
const HELD_FOR_WEEKS = 1;

export function rhythm(): Rhythm {
  const items = [0, 0, 0, 0, 0, 0, 0];
  const days = [0, 0, 0, 0, 0, 0, 0];
  let weights: readonly number[] = USUAL;
  let week = sum(USUAL);
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
      counts.forEach((count, at) => {
        const weekday = weekdayOf(from + at);
        items[weekday] = (items[weekday] ?? 0) + count;
        days[weekday] = (days[weekday] ?? 0) + 1;
      });
      // A day's own average, in days of the assumed week: seven weekdays that are alike have weights of 5.1 / 7.
      const rate =
        sum(items) /
        Math.max(
          1,
          days.reduce((all, n, at) => all + n * (USUAL[at] ?? 0), 0),
        );
      if (rate === 0) return;
      weights = USUAL.map(
        (usual, at) => ((items[at] ?? 0) / rate + usual * HELD_FOR_WEEKS) / ((days[at] ?? 0) + HELD_FOR_WEEKS),
      );
      week = sum(weights);
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, it) => total + it, 0);
