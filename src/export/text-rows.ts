/**
 * Writes rows as CSV or JSON lines. Numbers and JSON keep the text of the database, because a JavaScript number would round
 * them.
 */
import { csvRecord } from '../text/csv.ts';
import { escapeJsonControls } from '../text/terminal-safe.ts';
import { exactValue, jsonValue } from '../warehouse/sql/json-value.ts';
import type { TextResult } from '../warehouse/sql/read-only-session.ts';
import { TYPE } from '../warehouse/sql/type-oids.ts';

/** Comma-separated values with a header, as `sluice query --csv` prints them. */
export async function* toCsv(parts: AsyncIterable<TextResult>): AsyncGenerator<string, void> {
  let isFirst = true;
  for await (const { fields, rows } of parts) {
    const header = isFirst ? csvRecord(fields.map(({ name }) => name)) : '';
    isFirst = false;
    yield header + rows.map((row) => csvRecord(fields.map(({ oid }, at) => exactValue(row[at] ?? null, oid)))).join('');
  }
}

/**
 * One JSON object a line. A number that a double cannot represent is text, as in `sluice query --json`. Inside a JSON column,
 * a number keeps its digits.
 */
export async function* toJsonLines(parts: AsyncIterable<TextResult>): AsyncGenerator<string, void> {
  for await (const { fields, rows } of parts) {
    const keys = fields.map(({ name }) => `${JSON.stringify(name)}:`);
    const pair = (row: TextResult['rows'][number]) => (_: unknown, at: number) =>
      `${keys[at]}${jsonText(row[at] ?? null, fields[at]?.oid ?? 0)}`;
    yield escapeJsonControls(rows.map((row) => `{${fields.map(pair(row)).join(',')}}\n`).join(''));
  }
}

function jsonText(text: string | null, oid: number): string {
  if (text === null) return 'null';
  if (oid === TYPE.JSONB) return text;
  const value = jsonValue(text, oid);
  return typeof value === 'number' ? text : JSON.stringify(value);
}
