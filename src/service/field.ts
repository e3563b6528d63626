/**
 * The vocabulary of answers. A field says at once what the service sends, where it rests in the warehouse and what it
 * means to an analyst. The set of shapes is closed, and every reader (validation, tables, rows, comments, samples,
 * reference) is a fold over it.
 */
import type { Asked } from './asked.ts';
import type { Resource } from './resource.ts';

/**
 * How one value travels: `moment` is an RFC 3339 date-time, `day` a YYYY-MM-DD date, `epoch` an integer instant that
 * rests in two columns (`f timestamptz` and `f_epoch bigint`), `json` anything at all.
 */
export type Kind = 'text' | 'integer' | 'number' | 'flag' | 'moment' | 'day' | 'uuid' | 'epoch' | 'json';

/** How much a sighting knows of its entity, least first. */
export const DETAILS = ['reference', 'preview', 'full'] as const;
export type Detail = (typeof DETAILS)[number];

interface Facts {
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
export interface Scalar extends Facts {
  readonly shape: 'scalar';
  readonly kind: Kind;
  /** What a full answer means by leaving the field out. */
  readonly fallback?: string | number | boolean;
}

/** One object, flattened into columns that carry its name as a prefix. */
export interface Flat extends Facts {
  readonly shape: 'object';
  readonly fields: Fields;
  readonly tag?: string;
  readonly sighting?: Sighting;
}

/** An array: rows of a child table, replaced as a set. */
export interface List extends Facts {
  readonly shape: 'list';
  readonly element: Element;
  /** What follows the parent's singular in the child table's name, when it is not the field's own name. */
  readonly named?: string;
}

/** What a list holds: scalars in one column, objects in columns of their own, or anything in one jsonb column. */
export type Element =
  | { readonly of: 'scalar'; readonly column: string; readonly filtered: boolean }
  | { readonly of: 'json' }
  | {
      readonly of: 'object';
      readonly fields: Fields;
      readonly tag?: string;
      /** The columns that tell one element from another; without them its position does. */
      readonly key: readonly string[];
      readonly sighting?: Sighting;
      /** Columns worked out from the others. */
      readonly derived?: Readonly<Record<string, Derived>>;
    };

export interface Derived {
  readonly kind: Kind;
  readonly about: string;
  readonly from: (values: Readonly<Record<string, unknown>>) => string | null;
}

/** One entity of another resource inside this one; its key stays here as a reference, its row goes to its own table. */
export interface Nested extends Facts {
  readonly shape: 'nested';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/** An array of entities of another resource: rows of that resource's table, tied to the asker by a bridge. */
export interface NestedList extends Facts {
  readonly shape: 'nested-list';
  readonly resource: () => Resource;
  readonly detail: Detail;
}

/** A value that the question carried and the answer lacks, such as whose education this is. */
export interface Given {
  readonly shape: 'given';
  readonly kind: Kind;
  readonly about: string;
  readonly from: (asked: Asked, position: number) => unknown;
}

/** An object that also says something of an entity with a table of its own. */
export interface Sighting {
  readonly detail: Detail;
  /** The object is nothing but the entity's URN. */
  readonly bare?: boolean;
  /** The resource seen, by the type of the entity's URN. */
  readonly of: (urnType: string) => Resource;
}

export type Field = Scalar | Flat | List | Nested | NestedList | Given;
export type Fields = { readonly [name: string]: Field };

const plain = (about: string): Facts => ({ about, required: false, volatile: false, switchedBy: [] });
const scalar =
  (kind: Kind) =>
  (about: string): Scalar => ({ shape: 'scalar', kind, ...plain(about) });

export const text = scalar('text');
export const integer = scalar('integer');
export const number = scalar('number');
export const flag = scalar('flag');
export const moment = scalar('moment');
export const day = scalar('day');
export const uuid = scalar('uuid');
export const epoch = scalar('epoch');
export const json = scalar('json');

export const object = (about: string, fields: Fields, more: Pick<Flat, 'tag' | 'sighting'> = {}): Flat => ({
  shape: 'object',
  fields,
  ...more,
  ...plain(about),
});
/** An identifier of the professional network: `f_type` and `f_value`. `kinds` are types that it has, as examples. */
export const urn = (about: string, ...kinds: readonly [string, ...string[]]): Flat =>
  object(about, {
    type: text(`${about} The kind of thing the URN names, such as ${kinds.join(' or ')}.`),
    value: text(`${about} The identifier itself.`),
  });
/** A list of texts, one a row; `about` names them in the plural. `filtered` when people look things up by an element. */
export const texts = (about: string, column: string, filtered = false): List => ({
  shape: 'list',
  element: { of: 'scalar', column, filtered },
  ...plain(about),
});
export const anything = (about: string): List => ({ shape: 'list', element: { of: 'json' }, ...plain(about) });
export const objects = (
  about: string,
  fields: Fields,
  more: Partial<Omit<Extract<Element, { of: 'object' }>, 'of' | 'fields'>> & Pick<List, 'named'> = {},
): List => {
  const { named, ...element } = more;
  return {
    shape: 'list',
    element: { of: 'object', fields, key: [], ...element },
    ...(named !== undefined && { named }),
    ...plain(about),
  };
};
export const nested = (about: string, detail: Detail, resource: () => Resource): Nested => ({
  shape: 'nested',
  detail,
  resource,
  ...plain(about),
});
export const nestedList = (about: string, detail: Detail, resource: () => Resource): NestedList => ({
  shape: 'nested-list',
  detail,
  resource,
  ...plain(about),
});
export const given = (kind: Kind, about: string, from: Given['from']): Given => ({ shape: 'given', kind, about, from });

/** The same field, always present by the contract. */
export const required = <F extends Exclude<Field, Given>>(field: F): F => ({ ...field, required: true });
/** The same field, of which a difference is no change of the entity. */
export const volatile = <F extends Exclude<Field, Given>>(field: F): F => ({ ...field, volatile: true });
/** The same field, told only when one of these request switches is on. */
export const onlyWith = <F extends Exclude<Field, Given>>(field: F, ...switches: readonly string[]): F => ({
  ...field,
  switchedBy: switches,
});
/** The same field, with the value that a full answer means by leaving it out. */
export const fallback = (field: Scalar, value: string | number | boolean): Scalar => ({ ...field, fallback: value });
