/** Digests of a row's parts, by which a second load tells what did not change. */
import { hash } from 'node:crypto';
import type { Cell, ChildRow } from '../normalize/batch.ts';
import type { ChildTable, Column, RootTable } from '../warehouse/table.ts';
import type { State } from './state.ts';

export interface Digests {
  readonly columns: string;
  /** Of the columns that differ on every call, and of how much is known: neither is content. */
  readonly volatile: string;
  /** By child table, in declared order; null of a list that was never told. */
  readonly lists: readonly (string | null)[];
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** A cell's length goes before it, so that neighbours can't run into each other and null is no text. */
const written = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return '~';
  const text = String(cell);
  return `${text.length}:${text}`;
};

/** Columns whose content the digests cover: all but the machinery's and the counts, which follow their lists. */
export function contentColumns(table: RootTable): readonly Column[] {
  const counts = new Set(table.children.map(({ count }) => count));
  return table.columns.filter(({ name }) => !name.startsWith('_') && !counts.has(name));
}

const split = new WeakMap<RootTable, { steady: readonly string[]; volatile: readonly string[] }>();

function namesOf(table: RootTable): { steady: readonly string[]; volatile: readonly string[] } {
  const known = split.get(table);
  if (known) return known;
  const columns = contentColumns(table);
  const names = {
    steady: columns.filter((it) => !it.volatile).map(({ name }) => name),
    volatile: columns.filter((it) => it.volatile).map(({ name }) => name),
  };
  split.set(table, names);
  return names;
}

/** The digests of a state; of a list that it does not tell, the one that rests in the warehouse. */
export function digestsOf(table: RootTable, state: State, resting: Digests | undefined): Digests {
  const { steady, volatile } = namesOf(table);
  const of = (names: readonly string[]): string => names.map((name) => written(state.cells[name])).join('');
  return {
    columns: digest(of(steady)),
    volatile: digest(written(state.detail) + of(volatile)),
    lists: table.children.map((child, index) => {
      const rows = state.lists[child.name];
      return rows ? listDigest(rows) : (resting?.lists[index] ?? null);
    }),
  };
}

const listDigest = (rows: readonly ChildRow[]): string =>
  digest(`${rows.length};${rows.map((row) => row.map(written).join('')).join(';')}`);

/** What the content hash covers: everything but what is volatile. */
export function contentHash(table: RootTable, digests: Digests): string {
  const steady = table.children.flatMap((child, index) => (child.volatile ? [] : [digests.lists[index] ?? '-']));
  return digest([digests.columns, ...steady].join(' '));
}

/** True when something volatile differs and nothing else does. */
export const sameContent = (table: RootTable, a: Digests, b: Digests): boolean =>
  a.columns === b.columns &&
  table.children.every((child, index) => child.volatile || a.lists[index] === b.lists[index]);

export const sameDigests = (a: Digests, b: Digests): boolean => digestsText(a) === digestsText(b);

/** One text for the row's own column. */
export const digestsText = ({ columns, volatile, lists }: Digests): string =>
  [columns, volatile, ...lists.map((list) => list ?? '-')].join(' ');

export function digestsFrom(text: string): Digests {
  const [columns = '', volatile = '', ...lists] = text.split(' ');
  return { columns, volatile, lists: lists.map((list) => (list === '-' ? null : list)) };
}

/** The rows that a child table takes: of elements with a key of their own the last of each, in key order. */
export function childRows(child: ChildTable, rows: readonly ChildRow[]): readonly ChildRow[] {
  if (child.key.includes('position')) return rows;
  const own = child.key.slice(child.parentKey.length);
  const names = child.columns.slice(child.parentKey.length).map(({ name }) => name);
  const idOf = (row: ChildRow): string => own.map((name) => String(row[names.indexOf(name)])).join('\0');
  return [...new Map(rows.map((row) => [idOf(row), row])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
