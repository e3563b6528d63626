/** How items are distributed over the days of the week, learned from their dates. */
import { type DayRange, lengthOf, weekdayOf } from '../../day.ts';

/** Assumed: offices are closed at weekends. The dates of a week or two correct it. */
const DEFAULT_WEIGHTS = [0.05, 1, 1, 1, 1, 1, 0.05];
/** The number of weeks of dates with the same weight as the assumption. */
const HELD_FOR_WEEKS = 1;

/** The relative numbers of items of the days of a week. */
export class Rhythm {
  readonly #items = [0, 0, 0, 0, 0, 0, 0];
  readonly #days = [0, 0, 0, 0, 0, 0, 0];
  #weights: readonly number[] = DEFAULT_WEIGHTS;
  #week = sum(DEFAULT_WEIGHTS);

  /** The relative number of items of a day; about 1 for a working day. */
  weightOf(day: number): number {
    return this.#weights[weekdayOf(day)] ?? 0;
  }

  /** The total weight of the days of a range. */
  weightIn(range: DayRange): number {
    const weeks = Math.floor(lengthOf(range) / 7);
    let total = weeks * this.#week;
    for (let day = range.from + weeks * 7; day <= range.to; day++) total += this.weightOf(day);
    return total;
  }

  /** Adds complete days: the items of each day, beginning with `from`. */
  learn(from: number, counts: readonly number[]): void {
    counts.forEach((count, index) => {
      const weekday = weekdayOf(from + index);
      this.#items[weekday] = (this.#items[weekday] ?? 0) + count;
      this.#days[weekday] = (this.#days[weekday] ?? 0) + 1;
    });
    // A weekday's average is relative to the days of the assumed week: seven equal weekdays weigh 5.1 / 7 each.
    const assumedDays = sum(this.#days.map((n, at) => n * (DEFAULT_WEIGHTS[at] ?? 0)));
    const rate = sum(this.#items) / Math.max(1, assumedDays);
    if (rate === 0) return;
    this.#weights = DEFAULT_WEIGHTS.map(
      (assumed, index) =>
        ((this.#items[index] ?? 0) / rate + assumed * HELD_FOR_WEEKS) / ((this.#days[index] ?? 0) + HELD_FOR_WEEKS),
    );
    this.#week = sum(this.#weights);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, it) => total + it, 0);
