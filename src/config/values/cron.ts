/** Parses the five fields of a cron expression and refuses a schedule that never fires. */
import { LONGEST_MONTHS } from '../../day.ts';

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly daysOfWeek: readonly number[];
  /** True if both day fields are restricted. By convention, a day then has to match only one of them. */
  readonly eitherDay: boolean;
}

interface Part {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const PARTS: readonly Part[] = [
  { name: 'minute', from: 0, to: 59, names: [] },
  { name: 'hour', from: 0, to: 23, names: [] },
  { name: 'day of the month', from: 1, to: 31, names: [] },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'day of the week', from: 0, to: 7, names: DAYS },
];

/** The times of an expression, or a message about what is wrong with it. */
export function cronOf(text: string): Cron | string {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== PARTS.length) {
    return `${fields.length} field${fields.length === 1 ? '' : 's'} found; allowed are five: minute, hour, day of the month, month, day of the week, such as "15 6 * * 1-5"`;
  }
  const values = valuesOf(fields);
  if (typeof values === 'string') return values;
  const [minutes = [], hours = [], daysOfMonth = [], months = [], week = []] = values;
  const daysOfWeek = sorted(week.map((it) => it % 7));
  const eitherDay = isRestricted(fields[2]) && isRestricted(fields[4]);
  if (!eitherDay && !isOnCalendar(months, daysOfMonth))
    return 'none of these months has such a day, so the schedule never fires';
  return { minutes, hours, daysOfMonth, months, daysOfWeek, eitherDay };
}

/** The numbers of each field, or what is wrong with the first field that has none. */
function valuesOf(fields: readonly string[]): readonly (readonly number[])[] | string {
  const values: (readonly number[])[] = [];
  for (const [index, part] of PARTS.entries()) {
    const numbers = numbersOf(fields[index] ?? '', part);
    if (typeof numbers === 'string') return numbers;
    values.push(numbers);
  }
  return values;
}

const isRestricted = (field = ''): boolean => !field.startsWith('*');

const isOnCalendar = (months: readonly number[], days: readonly number[]): boolean =>
  months.some((month) => days.some((day) => day <= (LONGEST_MONTHS[month - 1] ?? 0)));

function numbersOf(field: string, part: Part): readonly number[] | string {
  const numbers = new Set<number>();
  for (const piece of field.split(',')) {
    const [range = '', stepText, ...more] = piece.split('/');
    const step = stepText === undefined ? 1 : wholeNumber(stepText);
    const ends = endsOf(range, part, stepText !== undefined);
    if (!ends || step === undefined || step < 1 || more.length > 0) return wrong(field, part);
    for (let number = ends[0]; number <= ends[1]; number += step) numbers.add(number);
  }
  return sorted([...numbers]);
}

const sorted = (numbers: readonly number[]): number[] => [...new Set(numbers)].toSorted((a, b) => a - b);

const wrong = (field: string, { name, from, to, names }: Part): string =>
  `${JSON.stringify(field)} is not a valid ${name}; allowed are *, numbers from ${from} to ${to}${
    names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ''
  }, ranges (1-5), steps (*/15) and lists of these with commas`;

function endsOf(range: string, part: Part, stepped: boolean): readonly [number, number] | undefined {
  if (range === '*') return [part.from, part.to];
  const [first = '', last, ...more] = range.split('-');
  const from = valueOf(first, part);
  const to = last === undefined ? (stepped ? part.to : from) : valueOf(last, part);
  return from === undefined || to === undefined || from > to || more.length > 0 ? undefined : [from, to];
}

function valueOf(text: string, { from, to, names }: Part): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  const number = named === -1 ? wholeNumber(text) : named + from;
  return number !== undefined && number >= from && number <= to ? number : undefined;
}

const wholeNumber = (text: string): number | undefined => (/^\d{1,4}$/.test(text) ? Number(text) : undefined);
