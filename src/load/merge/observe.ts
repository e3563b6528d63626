/** The known state of an entity, and how an observation changes it; pure. */
import type { Cell, Lists, RootRow, Values } from '../../normalize/batch.ts';
import { DETAILS, type Detail } from '../../service/model.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import { slotsIn } from './slots.ts';

export interface RowState {
  readonly values: Values;
  /** Lists from observations, without those that only the stored row has. */
  readonly lists: Lists;
  readonly detail: Detail;
}

const rank = (detail: Detail): number => DETAILS.indexOf(detail);

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
  seen: Pick<RootRow, 'values' | 'lists' | 'detail'>,
): RowState {
  if (!known) return { values: seen.values, lists: seen.lists, detail: seen.detail };
  const regresses = isUnfinished(table, seen.values) && !isUnfinished(table, known.values);
  if (rank(seen.detail) >= rank(known.detail) && !regresses)
    return {
      values: known.values.map((value, slot) => (seen.values[slot] === undefined ? value : seen.values[slot])),
      lists: table.children.map((_, index) => seen.lists[index] ?? known.lists[index]),
      detail: seen.detail,
    };
  const countOf = (index: number): Cell => known.values[slotsIn(table).counts[index] ?? -1] ?? null;
  return {
    values: known.values.map((value, slot) => value ?? seen.values[slot] ?? null),
    lists: table.children.map((_, index) =>
      countOf(index) === null ? (seen.lists[index] ?? known.lists[index]) : known.lists[index],
    ),
    detail: known.detail,
  };
}
