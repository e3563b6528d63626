/** Rows of any statement or table as a table. */
import { html, type Markup } from '../report/markup.ts';
import { clipped } from '../report/reading/rows.ts';
import { column, tableOf } from '../report/table.ts';
import { displayText } from '../text/display-text.ts';

/** The most characters of a cell. */
export const MOST_CELL = 300;

/** Columns with longer texts wrap them. */
const WRAPPED = 40;

type Row = readonly unknown[];

/** Read beyond them, so that a secret at the cut is recognized and does not show its beginning. */
export const BEYOND_CELL = 2 ** 12;

/** The text of a value as a cell shows it. */
const cellText = (value: unknown): string => clipped(displayText(value), MOST_CELL);

/** The start of a value without secrets; a number and null stay as they are. */
export const redactedCell = (value: unknown, redact: (text: string) => string): string | number | null =>
  typeof value === 'number' || value === null
    ? value
    : clipped(redact(clipped(displayText(value), MOST_CELL + BEYOND_CELL)), MOST_CELL);

/** The table. Columns of numbers are right-aligned, and null differs from the text “null”. */
export function resultTable(columns: readonly string[], rows: readonly Row[]): Markup {
  const isNumeric = (index: number): boolean =>
    rows.some((row) => typeof row[index] === 'number') &&
    rows.every((row) => row[index] === null || typeof row[index] === 'number');
  const cell = (row: Row, index: number): Markup =>
    row[index] === null ? html`<span class="quiet">null</span>` : html`<bdi>${cellText(row[index])}</bdi>`;
  return tableOf(rows, {
    id: 'rows',
    caption: 'Rows',
    columns: columns.map((name, index) => {
      const isLong = rows.some((row) => displayText(row[index]).length > WRAPPED);
      return column(
        html`<code>${name}</code>`,
        (row: Row) => cell(row, index),
        isNumeric(index) ? 'figure' : isLong ? 'long' : 'text',
      );
    }),
  });
}
