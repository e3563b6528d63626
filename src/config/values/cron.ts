/** Reads a cron expression of five fields. */
import { LONGEST_MONTHS } from '../../day.ts';

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', from: 0, to: 59, names: [] },
  { name: 'hour', from: 0, to: 23, names: [] },
  { name: 'day of the month', from: 1, to: 31, names: [] },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'day of the week', from: 0, to: 7, names: DAYS },
];

/** The numbers of the fields of a cron expression. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Undefined if every day of the month matches. If days of the week are defined too, a day has to match only one of the two. */
  readonly days: readonly number[] | undefined;
  readonly months: readonly number[];
  /** From 0, a Sunday, to 6; undefined if every day of the week matches. */
  readonly weekdays: readonly number[] | undefined;
}

/** Returns what an expression says, or a message about what is wrong with it, also if it never fires. */
export function readCron(text: string): Cron | string {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `${fields.length} field${fields.length === 1 ? '' : 's'} found; allowed are five: minute, hour, day of the month, month, day of the week, such as "15 6 * * 1-5"`;
  }
  const values: (readonly number[])[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const written = fields[index] ?? '';
    const numbers = numbersOf(written, field);
    if (!numbers) return wrong(written, field);
    values.push(numbers);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values;
  const hasWeekdays = fields[4] !== '*';
  if (!hasWeekdays && !months.some((month) => days.some((day) => day <= (LONGEST_MONTHS[month - 1] ?? 0)))) {
    return 'none of these months has such a day, so the schedule never fires';
  }
  return {
    minutes,
    hours,
    days: fields[2] === '*' ? undefined : days,
    months,
    weekdays: hasWeekdays ? weekdays : undefined,
  };
}

const wrong = (written: string, { name, from, to, names }: Field): string =>
  `${JSON.stringify(written)} is not a valid ${name}; allowed are *, numbers from ${from} to ${to}${
    names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ''
  }, ranges (1-5), steps (*/15) and lists of these with commas`;

/** The numbers of a list of ranges; undefined if it is malformed or repeats a number. */
function numbersOf(written: string, field: Field): readonly number[] | undefined {
  const ranges = written.split(',').map((range) => rangeOf(range, field));
  const numbers = ranges.flat();
  const isSound = ranges.every((range) => range.length > 0) && new Set(numbers).size === numbers.length;
  return isSound ? numbers : undefined;
}

const RANGE = /^(?:\*|(?<first>\w+)(?:-(?<last>\w+))?)(?:\/(?<every>\d{1,4}))?$/;

/** The numbers of one range; empty if it is malformed. */
function rangeOf(range: string, { from, to, names }: Field): readonly number[] {
  const parts = RANGE.exec(range)?.groups;
  if (!parts) return [];
  const numberIn = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    return named === -1 ? (/^\d{1,4}$/.test(word) ? Number(word) : Number.NaN) : named + from;
  };
  const { first, last, every } = parts;
  const low = first === undefined ? from : numberIn(first);
  const high = last === undefined ? (first === undefined || every !== undefined ? to : low) : numberIn(last);
  const step = every === undefined ? 1 : Number(every);
  if (!(low >= from && high <= to && low <= high && step >= 1)) return [];
  const numbers = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, index) => low + index * step);
  // Sunday is 0 and 7.
  return names === DAYS ? [...new Set(numbers.map((it) => it % 7))] : numbers;
}
