/** Sends rows in the text format of `COPY`, the fastest way to insert them. */
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from } from 'pg-copy-streams';
import { qualified, quotedList } from './identifiers.ts';

type Cell = string | number | boolean | null;

/**
 * The statement that inserts rows of these columns. Its only parameter is a result of `copyText` or an iterable of
 * them.
 */
export const copyInto = (schema: string, table: string, columns: readonly string[]): string =>
  `${COPY}${qualified(schema, table)} (${quotedList(columns)}) from stdin`;

const COPY = 'copy ';

export const isCopy = (statement: string): boolean => statement.startsWith(COPY);

/** Rows that begin with the same cells. */
export interface CopySet {
  /** The text of these cells, from `copyPrefix`. */
  readonly begin: string;
  /** The cells after them. */
  readonly rows: readonly (readonly Cell[])[];
}

/** The text of the cells with which the lines of a set begin. */
export const copyPrefix = (cells: readonly Cell[]): string => cells.map((cell) => `${textOf(cell)}\t`).join('');

/** The rows as text, one line for each. */
export function copyText(sets: readonly CopySet[]): string {
  let text = '';
  for (const { begin, rows } of sets) {
    for (const row of rows) {
      let separator = begin;
      for (const cell of row) {
        text += separator;
        text += textOf(cell);
        separator = '\t';
      }
      text += '\n';
    }
  }
  return text;
}

/** Few texts contain these characters, so a test comes before the replacement. */
const SPECIAL = /[\\\t\n\r]/;
const EACH_SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function textOf(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell !== 'string') return String(cell);
  return SPECIAL.test(cell) ? cell.replace(EACH_SPECIAL, (char) => ESCAPED[char] ?? char) : cell;
}

/** The text of a COPY, or a lazy sequence of its parts. An embedded database takes no asynchronous one. */
export type CopySource = string | Iterable<string> | AsyncIterable<string>;

/** Runs the statement with its text. Returns a result like that of an insert. */
export async function copy(client: Pick<ClientBase, 'query'>, statement: string, text: CopySource) {
  const stream = client.query(from(statement));
  await pipeline(textParts(text), stream);
  return { command: 'INSERT', rowCount: stream.rowCount, rows: [] };
}

/** The parts of the text. A plain string gets wrapped, because its iterator would return single characters. */
export const textParts = <Parts extends object>(text: string | Parts): Parts | readonly string[] =>
  typeof text === 'string' ? [text] : text;
