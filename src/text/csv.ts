/** Formats rows as comma-separated values. */

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
  yield csvRecord(columns);
  for (const row of rows) yield csvRecord(row);
}

/** One record with its line break. */
export const csvRecord = (values: readonly unknown[]): string => values.map(field).join(',') + LINE_BREAK;

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : jsonOf(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const jsonOf = (value: unknown): string => (typeof value === 'bigint' ? value.toString() : JSON.stringify(value));
