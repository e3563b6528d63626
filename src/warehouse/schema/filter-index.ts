/** Chooses indexes for columns that users filter by and that no key covers. */
import type { Index, Column } from './table-types.ts';
import type { Fields } from '../../service/model.ts';

/**
 * The index of a filtered column. A text field of the entity, such as an alias, is nearly unique and gets a hash index.
 * A part of a URN may occur in many rows.
 */
export function filterIndex(name: string, columns: readonly Column[], fields: Fields): Index {
  if (columns.find((it) => it.name === name)?.type !== 'text') return { columns: [name], using: 'btree' };
  return name in fields ? { columns: [name], using: 'hash' } : sharedTextIndex(name);
}

/** The index for texts that may occur in many rows. */
export const sharedTextIndex = (name: string): Index => ({ columns: [name], using: 'spgist' });
