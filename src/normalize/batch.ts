/** The rows of one answer, as values: what the normalizer makes and the loader writes. */
import type { Detail } from '../service/model.ts';

/** A column's value: text for everything but numbers that are exact and booleans. */
export type Cell = string | number | boolean | null;

/** A row of a root table, with the lists that it owns. */
export interface RootRow {
  /** The key's cells, joined so that equal keys give equal text. */
  readonly id: string;
  /** The columns that this sighting tells; an absent one says nothing. */
  readonly cells: Readonly<Record<string, Cell>>;
  /** Child rows by child table; an absent list was not told, an empty one says "none". */
  readonly lists: Readonly<Record<string, readonly ChildRow[]>>;
  readonly detail: Detail;
  /** Position of the top-level item that is this row; absent of rows found inside items. */
  readonly item?: number;
}

/** A row of a child table without the parent's key columns, in declared column order. */
export type ChildRow = readonly Cell[];

/** A row of a bridge: the question's columns are the batch's, so only the rest is here. */
export interface BridgeRow {
  readonly id: string;
  readonly cells: Readonly<Record<string, Cell>>;
}

export interface Reject {
  /** Position in the answer; absent when the whole answer is rejected. */
  readonly position: number | undefined;
  /** RFC 6901 pointer into the answer. */
  readonly pointer: string;
  readonly reason: string;
}

export type DriftKind = 'unknown field' | 'missing' | 'wrong type' | 'other @type';
export interface Drift {
  readonly resource: string;
  /** Field names joined by dots, without positions. */
  readonly path: string;
  readonly kind: DriftKind;
  readonly count: number;
  /** The JSON type found; never a value. */
  readonly sampleType: string;
}

export interface Batch {
  /** Top-level items in the answer; 1 for an answer that is no array of items and is rejected whole. */
  readonly received: number;
  /** The top-level items as decoded, for paging; none of an answer that is rejected whole. */
  readonly items: readonly unknown[];
  /** In the order seen, by root table. Two rows of a table may share an id. */
  readonly roots: ReadonlyMap<string, readonly RootRow[]>;
  readonly bridge:
    | {
        readonly table: string;
        readonly questionCells: Readonly<Record<string, Cell>>;
        readonly rows: readonly BridgeRow[];
        readonly complete: boolean;
      }
    | undefined;
  /** Owner columns of a set that this answer replaces or, when it was as long as asked, adds to. */
  readonly owner:
    | { readonly table: string; readonly key: Readonly<Record<string, Cell>>; readonly complete: boolean }
    | undefined;
  readonly rejects: readonly Reject[];
  /** Rejected items that are no items of the endpoint at all, such as error objects. */
  readonly foreign: number;
  /** Top-level items that are forgotten: tombstones stand in their places. */
  readonly forgotten: number;
  readonly drift: readonly Drift[];
}
