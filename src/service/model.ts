/** The model of what the service returns: resources, and the closed set of shapes that their fields have. Every reader (validation, tables, rows, comments, samples, reference) is a fold over it. */
import type { KeyedRequest } from './request-body.ts';
import type { NameKind } from './names/entity-name.ts';

/**
 * How one value travels: `moment` is an RFC 3339 date-time, `day` a YYYY-MM-DD date, `epoch` an integer instant that
 * rests in two columns (`f timestamptz` and `f_epoch bigint`), `json` anything at all.
 */
export type Kind = 'text' | 'integer' | 'number' | 'flag' | 'moment' | 'day' | 'uuid' | 'epoch' | 'json';

/** How much a sighting knows of its entity, least first. */
export const DETAILS = ['reference', 'preview', 'full'] as const;

export type Detail = (typeof DETAILS)[number];

export interface FieldMetadata {
  /** What it means, in an analyst's words and with its unit; becomes the column's comment. */
  readonly about: string;
  /** The contract says that it is always present. Its absence loads as null and is counted as drift. */
  readonly required: boolean;
  /** Differs on every call without the entity changing: kept at its newest, never a change. */
  readonly volatile: boolean;
  /** Request switches of which one must be on for an absence to mean "none" rather than "not asked". */
  readonly switchedBy: readonly string[];
}

/** One value in one column of the same name (an epoch in two). */
export interface ScalarField extends FieldMetadata {
  readonly shape: 'scalar';
  readonly kind: Kind;
  /** What a full answer means by leaving the field out. */
  readonly fallback?: string | number | boolean;
}

/** One object, flattened into columns that carry its name as a prefix. */
export interface ObjectField extends FieldMetadata {
  readonly shape: 'object';
  readonly fields: Fields;
  readonly tag?: string;
  readonly observation?: ObservationSpec;
}

/** An array: rows of a child table, replaced as a set. */
export interface ListField extends FieldMetadata {
  readonly shape: 'list';
  readonly element: ListElement;
  /** What follows the parent's singular in the child table's name, when it is not the field's own name. */
  readonly named?: string;
}

/** What a list holds: scalars in one column, objects in columns of their own, or anything in one jsonb column. */
export type ListElement =
  | { readonly of: 'scalar'; readonly column: string; readonly filtered: boolean }
  | { readonly of: 'json' }
  | {
      readonly of: 'object';
      readonly fields: Fields;
      readonly tag?: string;
      /** The columns that tell one element from another; without them its position does. */
      readonly key: readonly string[];
      readonly observation?: ObservationSpec;
      /** Columns worked out from the others. */
      readonly derived?: Readonly<Record<string, Derived>>;
    };

export interface Derived {
  readonly kind: Kind;
  readonly about: string;
  readonly from: (values: Readonly<Record<string, unknown>>) => string | null;
}

/** One entity of another resource inside this one; its key stays here as a reference, its row goes to its own table. */
export interface NestedField extends FieldMetadata {
  readonly shape: 'nested';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/** An array of entities of another resource: rows of that resource's table, tied to the asker by a bridge. */
export interface NestedListField extends FieldMetadata {
  readonly shape: 'nested-list';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/** A value that the question carried and the answer lacks, such as whose education this is. */
export interface RequestValueField {
  readonly shape: 'given';
  readonly kind: Kind;
  readonly about: string;
  readonly from: (asked: KeyedRequest, position: number) => unknown;
}

/** An object that also says something of an entity with a table of its own. */
export interface ObservationSpec {
  readonly detail: Detail;
  /** The object is nothing but the entity's URN. */
  readonly bare?: boolean;
  /** The resource seen, by the type of the entity's URN. */
  readonly resourceOf: (urnType: string) => Resource;
}

export type Field = ScalarField | ObjectField | ListField | NestedField | NestedListField | RequestValueField;

export type Fields = { readonly [name: string]: Field };

export interface Resource {
  /** The contract's name of it. */
  readonly name: string;
  /** The documented `@type` of an item. */
  readonly tag: string;
  readonly table: string;
  /** One of them, as the prefix of its children's key columns. */
  readonly noun: string;
  readonly about: string;
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
  /** Columns naming whose set these rows are; a complete answer replaces the set. */
  readonly owner?: readonly string[];
  /** Seen from more than one place, so its rows carry `_detail` and sightings are merged. */
  readonly shared: boolean;
  readonly fields: Fields;
  /**
   * True of a row that its source will complete later; such a row never erases what a complete one said.
   * Cells are as the normalizer makes them: text, number, boolean or null.
   */
  readonly unfinished?: (row: Readonly<Record<string, unknown>>) => boolean;
  /** Columns that people filter by and that no key covers. */
  readonly filters?: readonly string[];
  /**
   * Columns, and URN fields, whose value names one of them to the service, with the kind of name. Every answer that
   * shows them is learned from, so only what an endpoint can be asked for by more than one name declares them.
   */
  readonly names?: Readonly<Record<string, NameKind>>;
  /** What moves from day to day: of each day on which one of them was seen, the last values are kept. */
  readonly measures?: readonly Measure[];
  /** Each change of its other attributes is logged: what it was, what it became, when and by which answer. */
  readonly logged?: boolean;
}

/** A number that is charted over time: a column, or a sum over a list. */
export type Measure = string | ListSum;

/** The sum of one field over a list's elements; null when the list is not told, negative ones (hidden) left out. */
export interface ListSum {
  readonly name: string;
  readonly about: string;
  readonly list: string;
  readonly field: string;
}
