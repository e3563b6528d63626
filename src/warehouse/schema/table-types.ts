/** The types of table declarations. */
import type { ListElement, PersonalData, Resource } from '../../service/model.ts';

import type { ForeignKey } from './references.ts';

export type SqlType = 'text' | 'bigint' | 'double precision' | 'boolean' | 'timestamptz' | 'date' | 'uuid' | 'jsonb';

export interface Column {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly about: string;
  /** True if a difference in this column does not count as a change of the entity. */
  readonly volatile: boolean;
  /** The column with the integer of this instant, as sent; undefined for other columns. Both hold one value. */
  readonly epoch?: string | undefined;
  /** How the values concern a person; undefined if they do not. */
  readonly personal?: PersonalData | undefined;
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
  /** The index of each column in the values of a row. Metadata columns have none. */
  readonly slots: ReadonlyMap<string, number>;
  /** The tables of its lists, in the order of their digests. */
  readonly children: readonly ChildTable[];
  /** The table of its daily numbers, if there is one. */
  readonly daily: DailyTable | undefined;
  /** The log of its attribute changes, if there is one. */
  readonly changes: ChangeTable | undefined;
}

export interface ChildTable extends Table {
  readonly kind: 'child';
  /** Key columns of the parent, with their names in this table. */
  readonly parentKey: readonly string[];
  /** The fields from the parent to the list. */
  readonly path: readonly string[];
  /** The parent's column with the number of elements. */
  readonly count: string;
  readonly volatile: boolean;
  /** The shape of its elements. */
  readonly element: ListElement;
  /** The log of its elements, if they have keys. */
  readonly changes: ChangeTable | undefined;
}

export interface Index {
  readonly columns: readonly string[];
  /**
   * `btree` sorts; the other types accept texts of any length. `hash` is the fastest to write, but equal texts share
   * one chain, which every insert reads completely. `spgist` is a tree without that cost.
   */
  readonly using: 'btree' | 'hash' | 'spgist';
}

/** Daily numbers of entities: one row for each entity and UTC day on which an answer showed it. */
export interface DailyTable extends Table {
  readonly kind: 'daily';
  /** The entity's key columns, with their names in this table. */
  readonly entityKey: readonly string[];
  readonly measures: readonly DailyMeasure[];
}

/** The source of a daily number: a column of the observed row, or the sum of one column over the rows of a list. */
export interface DailyMeasure {
  readonly column: string;
  readonly sum?: { readonly child: string; readonly place: number };
}

/** Attribute changes of entities or keyed list elements: one row for each attribute that an answer changed. */
export interface ChangeTable extends Table {
  readonly kind: 'changes';
  /** The entity's key columns, with their names in this table. */
  readonly entityKey: readonly string[];
  /** The columns of the table that are logged. */
  readonly attributes: readonly string[];
  /** Those of them whose values are digests. */
  readonly digested: readonly string[];
}
