/**
 * The model of what the service returns: resources, and the closed set of shapes of their fields. Every reader
 * (validation, tables, rows, comments, samples, reference) is a fold over it.
 */
import type { KeyedRequest } from './request-body.ts';
import type { NameKind } from './names/entity-name.ts';

/**
 * The type of a value: `moment` is an RFC 3339 date-time, `day` a YYYY-MM-DD date, and `json` any value. `epoch` is an
 * integer instant, stored in two columns (`f timestamptz` and `f_epoch bigint`).
 */
export type Kind = 'text' | 'integer' | 'number' | 'flag' | 'moment' | 'day' | 'uuid' | 'epoch' | 'json';

/** How much an observation reports about its entity, least first. */
export const DETAILS = ['reference', 'preview', 'full'] as const;

export type Detail = (typeof DETAILS)[number];

/** The topics of resources, in the order of the reference pages. Each network is a topic of its own. */
export const TOPICS = [
  'Web pages',
  'Company filings',
  'Professional network',
  'Microblogging network',
  'Photo-sharing network',
  'Costs',
] as const;

export type Topic = (typeof TOPICS)[number];

/**
 * How a field identifies its entity. `permanent`: an id that never passes to another entity. `name`: a name that requests
 * can use, and that can change hands. `text`: a text that shows who it is, but that requests cannot use.
 */
export type Identification = 'permanent' | 'name' | 'text';

/**
 * How a field concerns a person. `identifier`: it identifies the person, or something by the person, such as a post.
 * `content`: it describes the person, or the person wrote it.
 */
export type PersonalData = 'identifier' | 'content';

export interface FieldMetadata {
  /** The meaning in an analyst's words, with the unit; it becomes the column's comment. */
  readonly about: string;
  /** The contract says that it is always present. If it is missing, it loads as null and counts as drift. */
  readonly required: boolean;
  /**
   * Differs between calls although the entity is the same: the newest value is kept, and a difference is not a change.
   */
  readonly volatile: boolean;
  /** Request switches. Unless one of them is on, an absent value means "not requested" and not "none". */
  readonly switchedBy: readonly string[];
  /** An object or a list passes it on to its values. The type of an identifying URN does not identify. */
  readonly personal?: PersonalData | undefined;
}

/** One value in one column of the same name; an epoch has two columns. */
export interface ScalarField extends FieldMetadata {
  readonly shape: 'scalar';
  readonly kind: Kind;
  /** The value that applies if a full answer omits the field. */
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
  /** The suffix of the child table's name after the parent's noun, if it differs from the field's name. */
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
      /** The columns that identify an element. Without them its position does. */
      readonly key: readonly string[];
      readonly observation?: ObservationSpec;
      /** Columns computed from the others. */
      readonly derived?: Readonly<Record<string, Derived>>;
    };

export interface Derived {
  readonly kind: Kind;
  readonly about: string;
  readonly from: (valueOf: ValueOf) => string | null;
}

/** Returns the value of a row's column; undefined if the row does not report it. */
export type ValueOf = (column: string) => unknown;

/** One entity of another resource. Its key is stored here as a reference, its row in its own table. */
export interface NestedField extends FieldMetadata {
  readonly shape: 'nested';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/**
 * An array of entities of another resource. They are rows of that resource's table, linked to the request by a bridge
 * table.
 */
export interface NestedListField extends FieldMetadata {
  readonly shape: 'nested-list';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/** A value of the request that the answer does not repeat, such as the person of an education. */
export interface RequestValueField {
  readonly shape: 'given';
  readonly kind: Kind;
  readonly about: string;
  readonly personal?: PersonalData | undefined;
  readonly from: (keyed: KeyedRequest, position: number) => unknown;
}

/** An object that is also an observation of an entity with its own table. */
export interface ObservationSpec {
  readonly detail: Detail;
  /** The object consists of the entity's URN only. */
  readonly bare?: boolean;
  /** The observed resource, by the type of the entity's URN. */
  readonly resourceOf: (urnType: string) => Resource;
  /** Every resource that `resourceOf` can return. */
  readonly resources: () => readonly Resource[];
}

export type Field = ScalarField | ObjectField | ListField | NestedField | NestedListField | RequestValueField;

export type Fields = { readonly [name: string]: Field };

export interface Resource {
  /** The name in the contract. */
  readonly name: string;
  /** The documented `@type` of an item. */
  readonly tag: string;
  readonly table: string;
  /** The singular, used as the prefix of the key columns in child tables. */
  readonly noun: string;
  readonly topic: Topic;
  readonly about: string;
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
  /** The columns that identify the owner of a set of rows. A complete answer replaces the set. */
  readonly owner?: readonly string[];
  /** Observed by more than one source. Its rows carry `_detail`, and observations are merged. */
  readonly shared: boolean;
  readonly fields: Fields;
  /**
   * Columns that the source fills later. A row in which all of them are null is unfinished: it never overwrites values
   * of a finished one.
   */
  readonly finishedBy?: readonly string[];
  /** Columns that analysts filter by and that no key covers. */
  readonly filters?: readonly string[];
  /**
   * Columns, and URN fields, that hold a name of the entity that requests can use, with the kind of the name. Sluice
   * records the names in every answer. So only a resource whose endpoint accepts several names declares them.
   */
  readonly names?: Readonly<Record<string, NameKind>>;
  /** Fields that identify the entity: erasure looks for their values. Its key does so without being listed. */
  readonly identifiedBy?: Readonly<Record<string, Identification>>;
  /** Numbers that change daily. The last values of each day with an observation are kept. */
  readonly measures?: readonly Measure[];
  /** Columns with long texts, whose changes are logged as digests. */
  readonly digested?: readonly string[];
}

/** A number with a daily history: a column, or a sum over a list. */
export type Measure = string | ListSum;

/**
 * The sum of one field over the elements of a list, without negative (hidden) values; null if the list was not
 * reported.
 */
export interface ListSum {
  readonly name: string;
  readonly about: string;
  readonly list: string;
  readonly field: string;
}
