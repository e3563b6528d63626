/** The known state of an entity, and how an observation changes it; pure. */
import type { Cell, ChildRow, RootRow } from '../../normalize/batch.ts';
import { DETAILS, type Detail } from '../../service/model.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';

export interface RowState {
  readonly cells: Readonly<Record<string, Cell>>;
  /** Lists from observations, without those that only the stored row has. */
  readonly lists: Readonly<Record<string, readonly ChildRow[]>>;
  readonly detail: Detail;
}

const rank = (detail: Detail): number => DETAILS.indexOf(detail);

/** True if the first detail is greater than the second. */
export const isMoreDetailed = (one: Detail, other: Detail): boolean => rank(one) > rank(other);

/**
 * Returns the state after an older observation with more detail: as if it had come first and the known values had
 * filled its nulls.
 */
export const observeOlder = (table: RootTable, known: RowState, fuller: RowState): RowState =>
  observe(table, fuller, { cells: known.cells, lists: {}, detail: known.detail });

/**
 * Returns the state after a newer observation. One of the same or more detail overwrites the values that it has; a
 * lesser one only fills nulls. A row that its source has not completed counts as lesser than a complete one.
 */
export function observe(
  table: RootTable,
  known: RowState | undefined,
  seen: Pick<RootRow, 'cells' | 'lists' | 'detail'>,
): RowState {
  if (!known) return { cells: seen.cells, lists: seen.lists, detail: seen.detail };
  const { unfinished } = table.resource;
  const regresses = unfinished?.(seen.cells) === true && !unfinished(known.cells);
  if (rank(seen.detail) >= rank(known.detail) && !regresses) {
    return { cells: { ...known.cells, ...seen.cells }, lists: { ...known.lists, ...seen.lists }, detail: seen.detail };
  }
  const filled = Object.entries(seen.cells).filter(
    ([name]) => known.cells[name] === undefined || known.cells[name] === null,
  );
  const missingLists = table.children.filter(
    ({ name, count }) => name in seen.lists && (known.cells[count] ?? null) === null,
  );
  return {
    cells: { ...known.cells, ...Object.fromEntries(filled) },
    lists: { ...known.lists, ...Object.fromEntries(missingLists.map(({ name }) => [name, seen.lists[name] ?? []])) },
    detail: known.detail,
  };
}
