/** Formats figures for people: grouped digits, units, durations, days and instants in UTC. */
import { addDays, dayOf, daysFrom } from '../day.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** A no-break space, which keeps a figure and its unit on one line. */
const SPACE = '\u00a0';

/** The number with digits in groups of three and at most `places` decimals: `12,345.6`. */
export function withThousands(count: number, places = 2): string {
  const scale = 10 ** places;
  const [whole = '', ...fraction] = String(Math.round(count * scale) / scale).split('.');
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.').replace('-', '\u2212');
}

/** The number in few characters, for scales: `950`, `20k`, `1.5M`. */
export function compact(count: number): string {
  const units = ['', 'k', 'M', 'G', 'T'];
  const power = count < 10_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  return `${withThousands(count / 1000 ** power, 1)}${units[power] ?? ''}`;
}

/** The number with its noun: `1 point`, `1,200 points`. */
export const withNoun = (count: number, one: string, many = `${one}s`): string =>
  `${withThousands(count)}${SPACE}${count === 1 ? one : many}`;

/** The share as a percentage: `98.4 %`. Only a share of exactly 1 is shown as 100 %, and only exactly 0 as 0 %. */
export function percent(part: number): string {
  const percent = Math.round(part * 1000) / 10;
  const digits =
    percent === 100 && part < 1 ? '> 99.9' : percent === 0 && part > 0 ? '< 0.1' : withThousands(percent, 1);
  return `${digits.replace(' ', SPACE)}${SPACE}%`;
}

/** The part of a number as a percentage; a dash if there is nothing to divide by. */
export const shareOf = (part: number, all: number): string => (all === 0 ? '–' : percent(part / all));

/** A duration in milliseconds or seconds: `850 ms`, `4.2 s`, `301 s`. */
export function milliseconds(ms: number): string {
  if (ms < 1000) return `${withThousands(ms, 0)}${SPACE}ms`;
  return `${withThousands(ms / 1000, ms < 10_000 ? 1 : 0)}${SPACE}s`;
}

/** A number of bytes in a decimal unit: `12 kB`. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const scaled = count / 1000 ** power;
  return `${withThousands(scaled, power === 0 || scaled >= 100 ? 0 : 1)}${SPACE}${units[power] ?? ''}`;
}

/** A duration in its two largest units: `45 min`, `5 h 20 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `under 1${SPACE}min`;
  const two = (large: number, unit: string, small: number, smaller: string): string =>
    small === 0 ? `${large}${SPACE}${unit}` : `${large}${SPACE}${unit} ${small}${SPACE}${smaller}`;
  if (minutes < 60) return `${minutes}${SPACE}min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, 'h', minutes % 60, 'min');
  return hours < 24 * 14
    ? two(Math.floor(hours / 24), 'd', hours % 24, 'h')
    : `${withThousands(Math.floor(hours / 24))}${SPACE}d`;
}

/** An instant to the minute, with its time zone: `2026-03-04 05:06 UTC`. */
export const instant = (at: Date): string => `${dayOf(at)} ${at.toISOString().slice(11, 16)}${SPACE}UTC`;

/** A day in short form, for axes: `4 Mar`. */
export function shortDay(day: string): string {
  return `${Number(day.slice(8, 10))}${SPACE}${MONTHS[Number(day.slice(5, 7)) - 1] ?? ''}`;
}

/** The last `count` UTC days up to the day of the instant, oldest first. */
export function lastDays(count: number, at: Date): string[] {
  const last = dayOf(at);
  return daysFrom(addDays(last, 1 - count), last);
}
