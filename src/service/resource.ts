/** A resource is a kind of thing that the service returns: its tag, its table, its key, its fields. */
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
}

export const resource = (it: Omit<Resource, 'shared'> & { readonly shared?: boolean }): Resource => ({
  shared: false,
  ...it,
});
