/** Digests of a row's parts, by which a second load tells what did not change. */
import { hash } from 'node:crypto';
import type { Cell, ChildRow } from '../../normalize/batch.ts';
import type { ChildTable, Column, RootTable } from '../../warehouse/schema/table-types.ts';
import type { RowState } from './observe.ts';

export interface Digests {
  readonly columns: string;
  /** Of the columns that differ on every call, and of how much is known: neither is content. */
  readonly volatile: string;
  /** By child table, in declared order; null of a list that was never told. */
  readonly lists: readonly (string | null)[];
  /** All of them as one text, for the row's own column: equal when they are. */
  readonly text: string;
}

const madeOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** Short texts come again and again: lists without elements, or with one of a few. */
const SHORT = 48;
const MOST_KNOWN = 4096;
const known = new Map<string, string>();

function digest(text: string): string {
  if (text.length > SHORT) return madeOf(text);
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size === MOST_KNOWN) known.clear();
  const made = madeOf(text);
  known.set(text, made);
  return made;
}

/** A cell's length goes before it, so that neighbours can't run into each other and null is no text. */
const written = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '~';
  const text = String(cell);
  return `${text.length}:${text}`;
};

interface ContentNames {
  readonly all: readonly string[];
  readonly steady: readonly string[];
  readonly volatile: readonly string[];
}

const namesByTable = new WeakMap<RootTable, ContentNames>();

/** Names of the columns that the digests cover: all but the machinery's and the counts, which follow their lists. */
export function contentNames(table: RootTable): ContentNames {
  const made = namesByTable.get(table);
  if (made) return made;
  const counts = new Set(table.children.map(({ count }) => count));
  const columns = table.columns.filter(({ name }) => !name.startsWith('_') && !counts.has(name));
  const namesIn = (of: readonly Column[]): string[] => of.map(({ name }) => name);
  const names = {
    all: namesIn(columns),
    steady: namesIn(columns.filter((it) => !it.volatile)),
    volatile: namesIn(columns.filter((it) => it.volatile)),
  };
  namesByTable.set(table, names);
  return names;
}

/** The digests of a state; of a list that it does not tell, the one that rests in the warehouse. */
export function digestsOf(table: RootTable, state: RowState, stored: Digests | undefined): Digests {
  const { steady, volatile } = contentNames(table);
  return digests(
    digest(allWritten('', steady, state)),
    digest(allWritten(written(state.detail), volatile, state)),
    table.children.map((child, index) => {
      const rows = state.lists[child.name];
      return rows ? listDigest(rows) : (stored?.lists[index] ?? null);
    }),
  );
}

function allWritten(begin: string, names: readonly string[], { cells }: RowState): string {
  let text = begin;
  for (const name of names) text += written(cells[name]);
  return text;
}

const digests = (columns: string, volatile: string, lists: Digests['lists']): Digests => ({
  columns,
  volatile,
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

/** What the content hash covers: everything but what is volatile. */
export function contentHash(table: RootTable, digests: Digests): string {
  const steady = table.children.flatMap((child, index) => (child.volatile ? [] : [digests.lists[index] ?? '-']));
  return digest([digests.columns, ...steady].join(' '));
}

/** True when something volatile differs and nothing else does. */
export const sameContent = (table: RootTable, a: Digests, b: Digests): boolean =>
  a.columns === b.columns &&
  table.children.every((child, index) => child.volatile || a.lists[index] === b.lists[index]);

/** The digests that a row's own column holds as one text. */
export function digestsFrom(text: string): Digests {
  const [columns = '', volatile = '', ...lists] = text.split(' ');
  return { columns, volatile, lists: lists.map((list) => (list === '-' ? null : list)), text };
}

/** True of a list whose elements have a key of their own. */
export const isKeyed = (child: ChildTable): boolean => !child.key.includes('position');

/** The rows that a child table takes: of elements with a key of their own the last of each, in key order. */
export function childRows(child: ChildTable, rows: readonly ChildRow[]): readonly ChildRow[] {
  if (!isKeyed(child) || rows.length < 2) return rows;
  const own = child.key.slice(child.parentKey.length);
  const names = child.columns.slice(child.parentKey.length).map(({ name }) => name);
  const idOf = (row: ChildRow): string => own.map((name) => String(row[names.indexOf(name)])).join('\0');
  return [...new Map(rows.map((row) => [idOf(row), row])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
