/** The indexes of columns that people filter by and that no key covers. */
import type { Index, Column } from './table-types.ts';
import type { Fields } from '../../service/model.ts';

/** For a column of a row. A text of its own, such as an alias, is hardly any other's; a part of a URN many may refer to. */
export function filterIndex(name: string, columns: readonly Column[], fields: Fields): Index {
  if (columns.find((it) => it.name === name)?.type !== 'text') return { columns: [name], using: 'btree' };
  return name in fields ? { columns: [name], using: 'hash' } : sharedTextIndex(name);
}

/** For texts of which each may stand in many rows. */
export const sharedTextIndex = (name: string): Index => ({ columns: [name], using: 'spgist' });
