/** Which values of a row have which role, by the slots of its table. */
import { memoizeByObject } from '../../async/memoize.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';

export interface TableSlots {
  /** The columns that the digests cover: all except counts, which follow their lists. */
  readonly steady: readonly number[];
  readonly volatile: readonly number[];
  /** The column with the number of elements, by the index of the child table. */
  readonly counts: readonly number[];
  /** The columns that are null as long as a row is unfinished; empty if its rows never are. */
  readonly finishedBy: readonly number[];
  /** The indexes of the child tables whose elements have keys. */
  readonly keyedLists: readonly number[];
}

/** Returns the slots of a table, computed on the first call. */
export const slotsIn: (table: RootTable) => TableSlots = memoizeByObject(({ columns, slots, children, resource }) => {
  const slotOf = (column: string): number => slots.get(column) ?? -1;
  const counts = children.map(({ count }) => slotOf(count));
  const content = [...slots.values()].filter((slot) => !counts.includes(slot));
  const isVolatile = (slot: number): boolean => columns[slot]?.volatile === true;
  return {
    steady: content.filter((slot) => !isVolatile(slot)),
    volatile: content.filter(isVolatile),
    counts,
    finishedBy: (resource.finishedBy ?? []).map(slotOf),
    keyedLists: [...children.keys()].filter((index) => isKeyed(children[index])),
  };
});

/** True for a list whose elements have keys. */
export const isKeyed = (child: ChildTable | undefined): boolean => child?.key.includes('position') === false;
