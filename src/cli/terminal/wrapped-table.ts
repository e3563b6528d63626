/** A table whose last column has sentences: on a terminal they are wrapped instead of cut. */
import type { Channel } from './channel.ts';
import { wrapped } from './paragraph.ts';
import { displayText, type PrintedColumn, table } from './print.ts';
import { widthOf } from './width.ts';

/** With less room for the last column, the table is printed like any other. */
const LEAST_COLUMNS = 24;
const GAP_COLUMNS = 2;

/** A table of rows whose last column is wrapped to the width of the terminal; empty if there are no rows. */
export function wrappedTable<T>(
  rows: readonly T[],
  channel: Channel,
  columns: readonly PrintedColumn<NoInfer<T>>[],
): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) => columns.map(({ cell }) => displayText(cell(row))));
  const first = columns
    .slice(0, -1)
    .map(({ name }, index) => GAP_COLUMNS + Math.max(widthOf(name), ...cells.map((row) => widthOf(row[index] ?? ''))));
  const room = (channel.columns ?? Infinity) - first.reduce((sum, it) => sum + it, 0);
  const lines = cells.flatMap((row) =>
    wrapped(row.at(-1) ?? '', Math.max(LEAST_COLUMNS, room)).map((line, index) => [
      ...row.slice(0, -1).map((cell) => (index === 0 ? cell : '')),
      line,
    ]),
  );
  return table(columns, room < LEAST_COLUMNS ? cells : lines, channel);
}
