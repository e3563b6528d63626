/** Instants as the service writes them: up to microseconds, with any offset and number of digits. */
import { onCalendar } from '../day.ts';

/** An instant and the form in which it was written. */
export interface ParsedInstant {
  /** Since 1970. A Date would truncate them to milliseconds. */
  readonly micros: bigint;
  /** Such as `Z` or `+02:00`; empty if none was written. */
  readonly offset: string;
  /** Digits of the second's fraction, at most 6. */
  readonly digits: number;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|z|[+-]\d{2}:?\d{2})?$/;

/** The instant in the text, with its form; undefined if the text is not an instant. Assumed: no offset means UTC. */
export function instantOf(text: string): ParsedInstant | undefined {
  const parts = INSTANT.exec(text);
  if (!parts) return undefined;
  const [, day = '', time, fraction = '', written = ''] = parts;
  if (!onCalendar(day)) return undefined;
  const offset = written.length === 5 ? `${written.slice(0, 3)}:${written.slice(3)}` : written.toUpperCase();
  const milliseconds = Date.parse(`${day}T${time}${offset || 'Z'}`);
  if (Number.isNaN(milliseconds)) return undefined;
  const micros = BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
  return { micros, offset, digits: Math.min(6, fraction.length) };
}

/** Microseconds since 1970; undefined if the text is not an instant. */
export const microsOf = (text: string): bigint | undefined => instantOf(text)?.micros;

/** RFC 3339 with six digits of a second, in UTC or with the given offset; an empty offset writes none. */
export function instantText(micros: bigint, offset = 'Z'): string {
  const local = offset === 'Z' ? micros : micros + minutesOf(offset) * 60_000_000n;
  const fraction = ((local % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = Number((local - fraction) / 1000n);
  return `${new Date(milliseconds).toISOString().slice(0, 19)}.${String(fraction).padStart(6, '0')}${offset}`;
}

/** RFC 3339 with six digits of a second, in UTC, from milliseconds since 1970. */
export const millisecondText = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace('Z', '000Z');

function minutesOf(offset: string): bigint {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):(\d{2})$/.exec(offset) ?? [];
  return BigInt(hours) * 60n * (sign === '-' ? -1n : 1n) + BigInt(minutes) * (sign === '-' ? -1n : 1n);
}
