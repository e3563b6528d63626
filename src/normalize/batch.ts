/** The rows of one answer, as values. The normalizer makes them and the loader writes them. */
import type { Detail } from '../service/model.ts';
import type { RootTable } from '../warehouse/schema/table-types.ts';

/** A column's value. Everything except exact numbers and booleans is text. */
export type Cell = string | number | boolean | null;

/**
 * The longest part of a key, in bytes of UTF-8: an index entry of Postgres holds 2,704 bytes, and a key has up to four
 * parts.
 */
export const LONGEST_KEY = 640;

/** Bytes of UTF-8 per code unit of a string. */
const MOST_BYTES = 3;

/** True if the cell can be part of a key. */
export const isKey = (cell: Cell | undefined): boolean =>
  cell !== null &&
  cell !== undefined &&
  cell !== '' &&
  (typeof cell !== 'string' || cell.length * MOST_BYTES <= LONGEST_KEY || Buffer.byteLength(cell) <= LONGEST_KEY);

/** The values of a row of a root table, by the slots of its columns. Undefined if not reported. */
export type Values = readonly (Cell | undefined)[];

/** The lists of a row, by the index of the child table. Undefined if not reported; an empty list means "none". */
export type Lists = readonly (readonly ChildRow[] | undefined)[];

/** A row of a root table, with its lists. */
export interface RootRow {
  /** The cells of the key, joined so that equal keys give equal text. */
  readonly id: string;
  readonly values: Values;
  readonly lists: Lists;
  readonly detail: Detail;
  /** The position of this row's top-level item; absent for rows nested in items. */
  readonly item?: number;
}

/** A function that returns the values of a row by column. */
export const valuesOf =
  ({ slots }: RootTable, { values }: Pick<RootRow, 'values'>) =>
  (column: string): Cell | undefined =>
    values[slots.get(column) ?? -1];

/** A row of a child table in declared column order, without the parent's key columns. */
export type ChildRow = readonly Cell[];

export interface Reject {
  /** Position in the answer; absent if the complete answer is rejected. */
  readonly position: number | undefined;
  /** RFC 6901 pointer into the answer. */
  readonly pointer: string;
  readonly reason: string;
}

export type DriftKind = 'unknown field' | 'missing' | 'wrong type' | 'other @type';
export interface Drift {
  readonly resource: string;
  /** Field names joined by dots, without list positions. */
  readonly path: string;
  readonly kind: DriftKind;
  readonly count: number;
  /** The JSON type found; never a value. */
  readonly sampleType: string;
}

export interface Batch {
  /** The number of top-level items; 1 for an answer that is rejected completely. */
  readonly received: number;
  /**
   * The top-level items with the fields that paging reads, undefined if it reads none. Empty for an answer that is
   * rejected completely. The other fields are omitted, because batches stay in memory until they are committed.
   */
  readonly items: readonly unknown[];
  /** By root table, in the order of the answer. Two rows of a table may have the same id. */
  readonly roots: ReadonlyMap<string, readonly RootRow[]>;
  readonly bridge:
    | {
        readonly table: string;
        readonly questionCells: Readonly<Record<string, Cell>>;
        /** By column, without the columns of the request. */
        readonly rows: readonly Readonly<Record<string, Cell>>[];
        readonly complete: boolean;
      }
    | undefined;
  /**
   * The owner columns of the set that this answer replaces. An answer with the requested number of items only adds to
   * it.
   */
  readonly owner:
    | { readonly table: string; readonly key: Readonly<Record<string, Cell>>; readonly complete: boolean }
    | undefined;
  readonly rejects: readonly Reject[];
  /** The number of rejected items that are not items of the endpoint, such as error objects. */
  readonly foreign: number;
  /** The number of forgotten top-level items, which tombstones replace. */
  readonly forgotten: number;
  readonly drift: readonly Drift[];
}
