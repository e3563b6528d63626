/** Digests of a row's parts, which show on a repeated load what did not change. */
import { hash } from 'node:crypto';
import type { Cell, ChildRow } from '../../normalize/batch.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { isKeyed, slotsIn, type RowState } from './observe.ts';

export interface Digests {
  readonly columns: string;
  /** By child table, in declared order; null for a list that was never reported. */
  readonly lists: readonly (string | null)[];
  /**
   * All digests as one text, as stored in the row; equal if the digests are equal. It also has one of the volatile columns
   * and the detail, which are no content.
   */
  readonly text: string;
}

const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** Short texts repeat often: empty lists, or lists with one of a few elements. Longer ones are hashed faster than found. */
const SHORT = 16;
const MOST_KNOWN = 4096;
const known = new Map<string, string>();

function digest(text: string): string {
  if (text.length > SHORT) return shortHash(text);
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size === MOST_KNOWN) known.clear();
  const made = shortHash(text);
  known.set(text, made);
  return made;
}

/** Each cell is preceded by its length, so that neighbours stay separate and null differs from text. */
const written = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '~';
  const text = String(cell);
  return `${text.length}:${text}`;
};

/** Returns the digests of a state. A list that it does not include keeps its stored digest. */
export function digestsOf(table: RootTable, state: RowState, stored: Digests | undefined): Digests {
  const { steady, volatile } = slotsIn(table);
  return digests(
    digest(allWritten('', steady, state)),
    digest(allWritten(written(state.detail), volatile, state)),
    table.children.map((_, index) => {
      const rows = state.lists[index];
      return rows ? listDigest(rows) : (stored?.lists[index] ?? null);
    }),
  );
}

function allWritten(begin: string, slots: readonly number[], { values }: RowState): string {
  let text = begin;
  for (const slot of slots) text += written(values[slot]);
  return text;
}

const digests = (columns: string, volatile: string, lists: Digests['lists']): Digests => ({
  columns,
  lists,
  text: [columns, volatile, ...lists.map((list) => list ?? '-')].join(' '),
});

function listDigest(rows: readonly ChildRow[]): string {
  let text = `${rows.length};`;
  let separator = '';
  for (const row of rows) {
    text += separator;
    for (const cell of row) text += written(cell);
    separator = ';';
  }
  return digest(text);
}

/** Returns the content hash, which covers everything except volatile parts. */
export function contentHash(table: RootTable, digests: Digests): string {
  const steady = table.children.flatMap((child, index) => (child.volatile ? [] : [digests.lists[index] ?? '-']));
  return shortHash([digests.columns, ...steady].join(' '));
}

/** True if at most volatile parts differ. */
export const sameContent = (table: RootTable, a: Digests, b: Digests): boolean =>
  a.columns === b.columns &&
  table.children.every((child, index) => child.volatile || a.lists[index] === b.lists[index]);

/** Parses the digests from the text in a row. */
export function digestsFrom(text: string): Digests {
  const [columns = '', , ...lists] = text.split(' ');
  return { columns, lists: lists.map((list) => (list === '-' ? null : list)), text };
}

/** Returns the rows for a child table: of keyed elements only the last one with each key, in key order. */
export function childRows(child: ChildTable, rows: readonly ChildRow[]): readonly ChildRow[] {
  if (!isKeyed(child) || rows.length < 2) return rows;
  const own = child.key.slice(child.parentKey.length);
  const names = child.columns.slice(child.parentKey.length).map(({ name }) => name);
  const keyCells = own.map((name) => names.indexOf(name));
  const idOf = (row: ChildRow): string => keyCells.map((index) => String(row[index])).join('\0');
  return [...new Map(rows.map((row) => [idOf(row), row])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
