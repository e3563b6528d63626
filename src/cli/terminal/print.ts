/** Formats values for people: tables without control characters, cut to the width of the terminal, if there is one. */
import { styleText } from 'node:util';
import { displayText } from '../../text/display-text.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from './channel.ts';
import { cutTo, pad, widthOf } from './width.ts';

export interface TableColumn {
  readonly name: string;
  /** The default depends on the values: columns of numbers are right-aligned. */
  readonly align?: 'left' | 'right';
}

/** A column of rows of one type: its name, and what it shows of a row. */
export interface PrintedColumn<T> extends TableColumn {
  readonly cell: (row: T) => unknown;
}

export const column = <T>(name: string, cell: (row: T) => unknown): PrintedColumn<T> => ({ name, cell });

/** Columns that show the properties of these names. */
export const fields = <K extends string>(...names: readonly K[]): PrintedColumn<Readonly<Record<K, unknown>>>[] =>
  names.map((name) => column(name, (row) => row[name]));

/** Columns of figures that show the properties of these names. */
export const figures = <K extends string>(
  ...names: readonly K[]
): PrintedColumn<Readonly<Record<K, number | string | null>>>[] =>
  names.map((name) => figure(name, (row) => row[name]));

/** A right-aligned column. Numbers have grouped digits, null is empty, and texts are unchanged. */
export const figure = <T>(name: string, valueOf: (row: T) => number | string | null): PrintedColumn<T> => ({
  name,
  align: 'right',
  cell: (row) => {
    const value = valueOf(row);
    return typeof value === 'number' ? withThousands(value) : (value ?? '');
  },
});

/** A table of rows; empty if there are none. */
export const tableOf = <T>(
  rows: readonly T[],
  channel: Channel,
  columns: readonly PrintedColumn<NoInfer<T>>[],
): string =>
  rows.length === 0
    ? ''
    : table(
        columns,
        rows.map((row) => columns.map(({ cell }) => cell(row))),
        channel,
      );

const GAP = '  ';
/** The minimum width to which a column is cut; less would be unreadable. */
const LEAST_COLUMNS = 8;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * A table with a header and one line for each row. Numbers are right-aligned. On a terminal, the widest columns are cut
 * until a line fits; if the columns cannot fit, each row is printed as a list of its fields.
 */
export function table(
  columns: readonly TableColumn[],
  rows: readonly (readonly unknown[])[],
  channel: Channel,
): string {
  const heads = columns.map(({ name }) => escapeControls(name));
  const cells = rows.map((row) => columns.map((_, index) => displayText(row[index])));
  const wanted = heads.map((head, index) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), widthOf(head)),
  );
  const widths = channel.columns === undefined ? wanted : fitted(wanted, channel.columns);
  if (channel.columns !== undefined && lineWidth(widths) > channel.columns) return fieldByField(heads, cells, channel);
  const sides = columns.map(({ align }, index) => align ?? (isNumeric(rows, index) ? 'right' : 'left'));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => pad(cutTo(text, widths[index] ?? 0), widths[index] ?? 0, sides[index] ?? 'left'))
      .join(GAP)
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join(GAP);
  const lines = [paint(channel, 'bold', line(heads)), paint(channel, 'dim', rule), ...cells.map(line)];
  return `${lines.join('\n')}\n`;
}

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, it) => sum + it, GAP.length * Math.max(0, widths.length - 1));

function fieldByField(heads: readonly string[], rows: readonly (readonly string[])[], channel: Channel): string {
  const width = Math.max(...heads.map((head) => widthOf(head)));
  const room = (channel.columns ?? 0) - width - GAP.length;
  const records = rows.map((row, index) => [
    paint(channel, 'dim', `-- row ${index + 1}`),
    ...row.map(
      (cell, field) => `${pad(heads[field] ?? '', width, 'left')}${GAP}${cutTo(cell, Math.max(LEAST_COLUMNS, room))}`,
    ),
  ]);
  return records.map((lines) => `${lines.join('\n')}\n`).join('');
}

function isNumeric(rows: readonly (readonly unknown[])[], index: number): boolean {
  const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => NUMBER.test(displayText(value)));
}

/** The widths of the columns after narrowing the widest column step by step, so that narrow columns stay complete. */
function fitted(wanted: readonly number[], columns: number): number[] {
  const widths = [...wanted];
  for (let over = lineWidth(widths) - columns; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= LEAST_COLUMNS) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** The text in the style if the channel has colour, otherwise unchanged. */
export const paint = (channel: Channel, style: Style, text: string): string =>
  channel.color ? styleText(style, text, { validateStream: false }) : text;

/** The number with its noun and grouped digits: `1 request`, `2,000 requests`. */
export const withNoun = (count: number, one: string, many = `${one}s`): string =>
  `${withThousands(count)} ${count === 1 ? one : many}`;

/** The number with digits in groups of three and at most three decimals. */
export function withThousands(count: number): string {
  const [whole = '', ...fraction] = String(Math.round(count * 1000) / 1000).split('.');
  // Not with Intl: its first number takes twice as long as the start of Node.
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** A duration in its two largest units: `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.floor(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return twoUnits(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min');
  return twoUnits(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

const twoUnits = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
