/** Rows in the text format of `COPY`, and a statement that sends them: the quickest way into a table. */
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from } from 'pg-copy-streams';
import { quoted } from './identifiers.ts';

type Cell = string | number | boolean | null;

/** The statement that takes rows of these columns as its one parameter: what `copyText` made, or an iterable of such. */
export const copyInto = (schema: string, table: string, columns: readonly string[]): string =>
  `${COPY}${quoted(schema)}.${quoted(table)} (${columns.map(quoted).join(', ')})${FROM_CLIENT}`;

const COPY = 'copy ';
const FROM_CLIENT = ' from stdin';

export const isCopy = (statement: string): boolean => statement.startsWith(COPY);

/** The same statement for the embedded database, whose client gives a file. */
export const copyFromBlob = (statement: string): string =>
  `${statement.slice(0, -FROM_CLIENT.length)} from '/dev/blob'`;

/** Rows that begin with the same cells. */
export interface CopySet {
  readonly key: readonly Cell[];
  /** The cells after the key. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A line for each row. */
export function copyText(sets: readonly CopySet[]): string {
  let text = '';
  for (const { key, rows } of sets) {
    const begin = key.map((cell) => `${textOf(cell)}\t`).join('');
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

/** Hardly any text has such a letter. */
const SPECIAL = /[\\\t\n\r]/;
const EACH_SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function textOf(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell !== 'string') return String(cell);
  return SPECIAL.test(cell) ? cell.replace(EACH_SPECIAL, (letter) => ESCAPED[letter] ?? letter) : cell;
}

/** Runs the statement with a text, or its parts as they are made; its result is that of an insert. */
export async function copy(client: Pick<ClientBase, 'query'>, statement: string, text: string | Iterable<string>) {
  const stream = client.query(from(statement));
  await pipeline(textParts(text), stream);
  return { command: 'INSERT', rowCount: stream.rowCount, rows: [] };
}

/** Its parts; a text by itself would be taken for its letters. */
export const textParts = (text: string | Iterable<string>): Iterable<string> =>
  typeof text === 'string' ? [text] : text;
