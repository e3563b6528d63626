/** A resource is a kind of thing that the service returns: its tag, its table, its key, its fields. */
import { type EntityName, nameShown, type NameKind } from './entity-name.ts';
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
}

export const resource = (it: Omit<Resource, 'shared'> & { readonly shared?: boolean }): Resource => ({
  shared: false,
  ...it,
});

/** The names that a row of the resource shows, by its columns. */
export function namesShown({ names = {} }: Resource, cells: Readonly<Record<string, unknown>>): EntityName[] {
  return Object.entries(names).flatMap(([field, kind]) => {
    const texts = kind === 'urn' ? [cells[`${field}_type`], cells[`${field}_value`]] : [cells[field]];
    const name = texts.every((it) => typeof it === 'string') ? nameShown(kind, texts.join(':')) : undefined;
    return name ? [name] : [];
  });
}
