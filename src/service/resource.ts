/** A resource is a kind of thing that the service returns: its tag, its table, its key, its fields. */
import { type EntityName, nameShown, type NameKind } from './names/entity-name.ts';
import type { Fields } from './field.ts';

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

export const resource = (it: Omit<Resource, 'shared'> & { readonly shared?: boolean }): Resource => ({
  shared: false,
  ...it,
});

/** True of a resource whose rows are keyed by what was asked, so that they belong to whom the question is about. */
export const isKeyedByQuestion = ({ key, fields }: Resource): boolean =>
  key.some((name) => fields[name]?.shape === 'given');

/** The names that a row of the resource shows, by its columns. */
export function namesShown({ names = {} }: Resource, cells: Readonly<Record<string, unknown>>): EntityName[] {
  return Object.entries(names).flatMap(([field, kind]) => {
    const texts = kind === 'urn' ? [cells[`${field}_type`], cells[`${field}_value`]] : [cells[field]];
    const name = texts.every((it) => typeof it === 'string') ? nameShown(kind, texts.join(':')) : undefined;
    return name ? [name] : [];
  });
}
