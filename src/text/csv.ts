/** Formats rows as comma-separated values. */
import { displayText } from './display-text.ts';

/** The line break of shell tools. CRLF, as in RFC 4180, would leave a carriage return in the last field of each line. */
const LINE_BREAK = '\n';

/**
 * A header and one record for each row. Fields with a comma, a quote or a line break are quoted. Null is an empty field
 * and an empty text is `""`, so that the two differ. Values are exact: control characters are kept.
 */
export const csv = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [...csvRecords(columns, rows)].join('');

/** The header and the records one by one, since together they may be longer than a string can be. */
export function* csvRecords(columns: readonly string[], rows: Iterable<readonly unknown[]>): Generator<string, void> {
  yield columns.map(field).join(',') + LINE_BREAK;
  for (const row of rows) yield columns.map((_, index) => field(row[index])).join(',') + LINE_BREAK;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'object' && !(value instanceof Date)
        ? JSON.stringify(value)
        : displayText(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
