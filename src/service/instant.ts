/** Instants as the service writes them: to the microsecond, with whatever offset and as many digits as it has. */
import { onCalendar } from './day.ts';

/** An instant and the form in which it was written. */
export interface ParsedInstant {
  /** Since 1970; a Date would cut them to milliseconds. */
  readonly micros: bigint;
  /** As in `Z` or `+02:00`; empty when none was written. */
  readonly offset: string;
  /** Digits of the second's fraction, at most 6. */
  readonly digits: number;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|z|[+-]\d{2}:?\d{2})?$/;

/** The instant that a text names, and its form; undefined when it names none. Assumed: no offset means UTC. */
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

/** Microseconds since 1970 that a text names; undefined when it names no instant. */
export const microsOf = (text: string): bigint | undefined => instantOf(text)?.micros;

/** RFC 3339 with six digits of a second, in UTC or with the offset given; an empty one is left out. */
export function instantText(micros: bigint, offset = 'Z'): string {
  const local = offset === 'Z' ? micros : micros + minutesOf(offset) * 60_000_000n;
  const fraction = ((local % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = Number((local - fraction) / 1000n);
  return `${new Date(milliseconds).toISOString().slice(0, 19)}.${String(fraction).padStart(6, '0')}${offset}`;
}

/** The same of whole milliseconds since 1970, in UTC. */
export const millisecondText = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace('Z', '000Z');

function minutesOf(offset: string): bigint {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):(\d{2})$/.exec(offset) ?? [];
  return BigInt(hours) * 60n * (sign === '-' ? -1n : 1n) + BigInt(minutes) * (sign === '-' ? -1n : 1n);
}
