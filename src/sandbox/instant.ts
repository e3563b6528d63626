/**
 * Instants in microseconds, as the request log contains them. This code is independent of the log reader, so that a bug
 * in one is not hidden by the same bug in the other.
 */

/** RFC 3339 in UTC with six digits of a second. A double holds microseconds since 1970 exactly until the year 2255. */
export function instantText(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const digits = String(micros - seconds * 1_000_000).padStart(6, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${digits}Z`;
}

/** Microseconds since 1970 of an instant in the contract's format; without an offset it is UTC. */
export function instantMicros(text: string): number {
  const [, dateTime = '', fraction = '', offset = ''] = /^(.+?)(?:\.(\d+))?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text) ?? [];
  const seconds = Date.parse(`${dateTime}${offset === '' ? 'Z' : offset.toUpperCase()}`) / 1000;
  return seconds * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}
