/** The known state of an entity, and how an observation changes it; pure. */
import type { Cell, Lists, RootRow, Values } from '../../normalize/batch.ts';
import { DETAILS, type Detail } from '../../service/model.ts';
import { memoizeByObject } from '../../async/memoize.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';

/** Which values of a row have which role, by the slots of its table. */
export interface TableSlots {
  /** The columns that the digests cover: all except counts, which follow their lists. */
  readonly steady: readonly number[];
  readonly volatile: readonly number[];
  /** The column with the number of elements, by the index of the child table. */
  readonly counts: readonly number[];
  /** The columns that are null as long as a row is unfinished; empty if its rows never are. */
  readonly finishedBy: readonly number[];
  /** The slot of the epoch of each instant, by the slot of the instant. */
  readonly epochs: ReadonlyMap<number, number>;
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
    epochs: new Map(columns.flatMap(({ name, epoch }) => (epoch === undefined ? [] : [[slotOf(name), slotOf(epoch)]]))),
    keyedLists: [...children.keys()].filter((index) => isKeyed(children[index])),
  };
});

/** True for a list whose elements have keys. */
export const isKeyed = (child: ChildTable | undefined): boolean => child?.key.includes('position') === false;

export interface RowState {
  readonly values: Values;
  /** Lists from observations, without those that only the stored row has. */
  readonly lists: Lists;
  readonly detail: Detail;
}

const rank = (detail: Detail): number => DETAILS.indexOf(detail);

/** True for an observation with full detail. */
export const isFull = ({ detail }: Pick<RootRow, 'detail'>): boolean => detail === 'full';

/** True if the first detail is greater than the second. */
export const isMoreDetailed = (one: Detail, other: Detail): boolean => rank(one) > rank(other);

/** True for a row that its source will complete later. */
export function isUnfinished(table: RootTable, values: Values): boolean {
  const { finishedBy } = slotsIn(table);
  return finishedBy.length > 0 && finishedBy.every((slot) => values[slot] === null);
}

/**
 * Returns the state after an older observation with more detail: as if it had come first and the known values had
 * filled its nulls.
 */
export const observeOlder = (table: RootTable, known: RowState, fuller: RowState): RowState =>
  observe(table, fuller, { values: known.values, lists: [], detail: known.detail });

/**
 * Returns the state after a newer observation. One of the same or more detail overwrites the values that it has; a
 * lesser one only fills nulls. An unfinished row counts as lesser than a finished one.
 */
export function observe(
  table: RootTable,
  known: RowState | undefined,
  observation: Pick<RootRow, 'values' | 'lists' | 'detail'>,
): RowState {
  if (!known) return { values: observation.values, lists: observation.lists, detail: observation.detail };
  const regresses = isUnfinished(table, observation.values) && !isUnfinished(table, known.values);
  if (rank(observation.detail) >= rank(known.detail) && !regresses)
    return {
      values: known.values.map((value, slot) =>
        observation.values[slot] === undefined ? value : observation.values[slot],
      ),
      lists: table.children.map((_, index) => observation.lists[index] ?? known.lists[index]),
      detail: observation.detail,
    };
  const { counts, epochs } = slotsIn(table);
  const countOf = (index: number): Cell => known.values[counts[index] ?? -1] ?? null;
  // An instant is null if its epoch is implausible, and the epoch of another observation would not be its own.
  const isReported = (slot: number): boolean => (known.values[epochs.get(slot) ?? slot] ?? null) !== null;
  return {
    values: known.values.map((value, slot) => (isReported(slot) ? value : (observation.values[slot] ?? null))),
    lists: table.children.map((_, index) =>
      countOf(index) === null ? (observation.lists[index] ?? known.lists[index]) : known.lists[index],
    ),
    detail: known.detail,
  };
}
