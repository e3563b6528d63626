/** Tables whose last column has sentences. On a terminal only that column is narrowed, so that names stay complete. */
import type { Channel } from './channel.ts';
import { wrapped } from './paragraph.ts';
import { displayText } from '../../text/display-text.ts';
import { type PrintedColumn, table } from './print.ts';
import { cutTo, widthOf } from './width.ts';

/** With less room for the last column, the table is printed like any other. */
const LEAST_COLUMNS = 16;
const GAP_COLUMNS = 2;

type Columns<T> = readonly PrintedColumn<T>[];

/** A table of rows whose last column is wrapped to the width of the terminal; empty if there are no rows. */
export const wrappedTable = <T>(rows: readonly T[], channel: Channel, columns: Columns<NoInfer<T>>): string =>
  narrowedTable(rows, channel, columns, wrapped);

/** A table of rows with one line each, whose last column is cut to the width of the terminal; empty if there are no rows. */
export const cutTable = <T>(rows: readonly T[], channel: Channel, columns: Columns<NoInfer<T>>): string =>
  narrowedTable(rows, channel, columns, (text, room) => [cutTo(text, room)]);

/** True if the terminal has room for the last column beside the others, which are not narrowed. */
export const hasRoom = <T>(rows: readonly T[], channel: Channel, columns: Columns<NoInfer<T>>): boolean =>
  roomForLast(cellsOf(rows, columns), channel, columns) >= LEAST_COLUMNS;

const cellsOf = <T>(rows: readonly T[], columns: Columns<T>): string[][] =>
  rows.map((row) => columns.map(({ cell }) => displayText(cell(row))));

function roomForLast<T>(cells: readonly (readonly string[])[], channel: Channel, columns: Columns<T>): number {
  const others = columns
    .slice(0, -1)
    .map(({ name }, index) => GAP_COLUMNS + Math.max(widthOf(name), ...cells.map((row) => widthOf(row[index] ?? ''))));
  return (channel.columns ?? Infinity) - others.reduce((sum, it) => sum + it, 0);
}

function narrowedTable<T>(
  rows: readonly T[],
  channel: Channel,
  columns: Columns<T>,
  linesOf: (text: string, room: number) => readonly string[],
): string {
  if (rows.length === 0) return '';
  const cells = cellsOf(rows, columns);
  const room = roomForLast(cells, channel, columns);
  if (room < LEAST_COLUMNS) return table(columns, cells, channel);
  const lines = cells.flatMap((row) =>
    linesOf(row.at(-1) ?? '', room).map((line, index) => [
      ...row.slice(0, -1).map((cell) => (index === 0 ? cell : '')),
      line,
    ]),
  );
  return table(columns, lines, channel);
}
