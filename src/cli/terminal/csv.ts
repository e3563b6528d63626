/** Rows as comma-separated values. */
import { displayText } from './print.ts';

/** What shell tools expect; RFC 4180 has CRLF, which puts a carriage return into the last field of each line in a pipe. */
const LINE_BREAK = '\n';

/**
 * A head and one record a row, quoted where a comma, a quote or a line break stands. Null is an empty field, the empty
 * text a quoted one, so that the two stay apart. Values are exact: what a terminal would obey is kept.
 */
export function csv(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const records = [columns.map(field), ...rows.map((row) => columns.map((_, at) => field(row[at])))];
  return records.map((fields) => fields.join(',') + LINE_BREAK).join('');
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
