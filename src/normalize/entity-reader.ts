/** Readers of entities: how the objects of a resource become rows of its table. */
import { memoizeByObject } from '../async/memoize.ts';
import type { Detail, Fields, Resource } from '../service/model.ts';
import type { RootTable } from '../warehouse/schema/table-types.ts';
import { childTableName, rootTableOf } from '../warehouse/schema/tables.ts';
import { isKey, LONGEST_KEY, type RootRow, type Values } from './batch.ts';
import { type Reader, readerOf } from './reader.ts';
import type { RowBuilder, Scope } from './scope.ts';

/** How an object becomes a row of a resource's table. */
export interface EntityReader {
  readonly table: RootTable;
  readonly read: Reader;
  readonly keySlots: readonly number[];
  /** The arrays of a row without any value or list. */
  readonly empty: Pick<RootRow, 'values' | 'lists'>;
}

const entityReaders: (fields: Fields) => Map<Resource, EntityReader> = memoizeByObject(() => new Map());

/** The reader of objects with these fields, which are all or some of the resource's. */
export function entityReaderOf(resource: Resource, fields: Fields): EntityReader {
  const known = entityReaders(fields).get(resource);
  if (known) return known;
  const table = rootTableOf(resource);
  const slotOf = (column: string): number | undefined => table.slots.get(column);
  const listIndex = (path: readonly string[], named: string | undefined): number | undefined => {
    const name = childTableName(resource, path, named);
    const index = table.children.findIndex((child) => child.name === name);
    return index < 0 ? undefined : index;
  };
  const read = readerOf(fields, resource.tag, { slotOf, listIndex });
  const made: EntityReader = {
    table,
    read,
    keySlots: resource.key.map((name) => table.slots.get(name) ?? -1),
    empty: {
      values: Array.from(table.slots, () => undefined),
      lists: table.children.map(() => undefined),
    },
  };
  entityReaders(fields).set(resource, made);
  return made;
}

/** Starts a row. */
export const builderFor = ({ empty }: EntityReader, detail: Detail, path: string, scope: Scope): RowBuilder => ({
  values: [...empty.values],
  lists: [...empty.lists],
  full: detail === 'full',
  path,
  scope,
});

/** Returns the finished row, or the reason why it has no key. */
export function finishRow(
  { table, keySlots }: EntityReader,
  { values, lists }: RowBuilder,
  detail: Detail,
): RootRow | string {
  const invalid = keySlots.findIndex((slot) => !isKey(values[slot]));
  if (invalid >= 0) {
    const cell = values[keySlots[invalid] ?? -1];
    const found =
      typeof cell === 'string' && cell !== ''
        ? `is longer than ${LONGEST_KEY} bytes`
        : 'is missing, empty or of a wrong type';
    return `its key field ${table.key[invalid]} ${found}`;
  }
  return { id: idOf(values, keySlots), values, lists, detail };
}

/** Texts contain no NUL, so it separates the parts unambiguously. */
const idOf = (cells: Values, slots: readonly number[]): string => slots.map((slot) => String(cells[slot])).join('\0');
