/** Lays values out for people: tables, harmless to the terminal, cut to its width only where there is one. */
import { styleText } from 'node:util';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from './channel.ts';
import { cutTo, pad, widthOf } from './width.ts';

export interface TableColumn {
  readonly name: string;
  /** Told from the values when absent: columns of numbers are set right. */
  readonly align?: 'left' | 'right';
}

const GAP = '  ';
/** A column is not cut below this, or what is left of it says nothing. */
const LEAST_COLUMNS = 8;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * A table with a head and one line a row. Numbers are set right. Where the channel is a terminal, the widest columns are
 * cut until a line fits; when too many columns can't fit, each row is told field by field.
 */
export function table(
  columns: readonly TableColumn[],
  rows: readonly (readonly unknown[])[],
  channel: Channel,
): string {
  const heads = columns.map(({ name }) => escapeControls(name));
  const cells = rows.map((row) => columns.map((_, at) => displayText(row[at])));
  const wanted = heads.map((head, at) => Math.max(widthOf(head), ...cells.map((row) => widthOf(row[at] ?? ''))));
  const widths = channel.columns === undefined ? wanted : fitted(wanted, channel.columns);
  if (channel.columns !== undefined && lineWidth(widths) > channel.columns) return fieldByField(heads, cells, channel);
  const sides = columns.map(({ align }, at) => align ?? (isNumeric(rows, at) ? 'right' : 'left'));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => pad(cutTo(text, widths[at] ?? 0), widths[at] ?? 0, sides[at] ?? 'left'))
      .join(GAP)
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join(GAP);
  const lines = [paint(channel, 'bold', line(heads)), paint(channel, 'dim', rule), ...cells.map(line)];
  return `${lines.join('\n')}\n`;
}

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, it) => sum + it, GAP.length * Math.max(0, widths.length - 1));

function fieldByField(heads: readonly string[], rows: readonly (readonly string[])[], channel: Channel): string {
  const width = Math.max(...heads.map(widthOf));
  const room = (channel.columns ?? 0) - width - GAP.length;
  const records = rows.map((row, at) => [
    paint(channel, 'dim', `-- row ${at + 1}`),
    ...row.map(
      (cell, field) => `${pad(heads[field] ?? '', width, 'left')}${GAP}${cutTo(cell, Math.max(LEAST_COLUMNS, room))}`,
    ),
  ]);
  return records.map((lines) => `${lines.join('\n')}\n`).join('');
}

/** A value as one line of harmless text. */
export function displayText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return escapeControls(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (typeof value === 'bigint') return value.toString();
  return escapeControls(JSON.stringify(value) ?? 'null');
}

function isNumeric(rows: readonly (readonly unknown[])[], at: number): boolean {
  const told = rows.map((row) => row[at]).filter((value) => value !== null && value !== undefined);
  return told.length > 0 && told.every((value) => NUMBER.test(displayText(value)));
}

/** Narrows the widest column a step at a time, so that narrow ones stay whole. */
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

/** The text in that style where the channel shows colour, else as it is. */
export const paint = (channel: Channel, style: Style, text: string): string =>
  channel.color ? styleText(style, text, { validateStream: false }) : text;

/** Number with its word: `1 request`, `2 requests`, digits grouped. */
export const withNoun = (count: number, one: string, many = `${one}s`): string =>
  `${withThousands(count)} ${count === 1 ? one : many}`;

/** Digits in groups of three, with at most three after the point. */
export function withThousands(count: number): string {
  const [whole = '', ...fraction] = String(Math.round(count * 1000) / 1000).split('.');
  // By hand: the first number that is laid out for a language takes twice as long as Node takes to start.
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** A length of time in the two largest units that say it: `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
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
