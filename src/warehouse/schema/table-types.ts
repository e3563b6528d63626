/** The tables of the warehouse as values. */
import type { Resource } from '../../service/model.ts';

import type { ForeignKey } from './references.ts';

export type SqlType = 'text' | 'bigint' | 'double precision' | 'boolean' | 'timestamptz' | 'date' | 'uuid' | 'jsonb';

export interface Column {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly about: string;
  /** A difference here is no change of the entity. */
  readonly volatile: boolean;
}

export interface Table {
  readonly name: string;
  readonly kind: 'root' | 'child' | 'bridge' | 'daily' | 'changes';
  readonly about: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly Index[];
}

export interface RootTable extends Table {
  readonly kind: 'root';
  readonly resource: Resource;
  /** Its lists, in the order in which their digests are kept. */
  readonly children: readonly ChildTable[];
  /** Where its numbers are kept day by day, if they are. */
  readonly daily: DailyTable | undefined;
  /** Where changes of its attributes are logged, if they are. */
  readonly changes: ChangeTable | undefined;
}

export interface ChildTable extends Table {
  readonly kind: 'child';
  /** Key columns of the parent, as they are named here. */
  readonly parentKey: readonly string[];
  /** The parent's column that counts the elements. */
  readonly count: string;
  readonly volatile: boolean;
}

export interface Index {
  readonly columns: readonly string[];
  /**
   * `btree` sorts; the others take texts of any length. `hash` is the quickest to write, but rows that share a text lie in
   * one chain, which is read to its end for each that joins it; `spgist` is a tree.
   */
  readonly using: 'btree' | 'hash' | 'spgist';
}

/** Numbers of entities by day: one row for each entity and UTC day on which it was seen. */
export interface DailyTable extends Table {
  readonly kind: 'daily';
  /** The entity's key, as it is named here. */
  readonly entityKey: readonly string[];
  readonly measures: readonly DailyMeasure[];
}

/** Where a day's number comes from: a cell of the row sighted, or the sum of one place in a list's rows. */
export interface DailyMeasure {
  readonly column: string;
  readonly sum?: { readonly child: string; readonly place: number };
}

/** Changes of entities' attributes: one row for each attribute that an answer changed. */
export interface ChangeTable extends Table {
  readonly kind: 'changes';
  /** The entity's key, as it is named here. */
  readonly entityKey: readonly string[];
  /** The columns of the root table that are logged. */
  readonly attributes: readonly string[];
}
