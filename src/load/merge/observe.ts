/** What is known of an entity, and how a sighting changes it; pure. */
import type { Cell, ChildRow, RootRow } from '../../normalize/batch.ts';
import { DETAILS, type Detail } from '../../service/model.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';

export interface RowState {
  readonly cells: Readonly<Record<string, Cell>>;
  /** Lists told by sightings; those that rest in the warehouse are not here. */
  readonly lists: Readonly<Record<string, readonly ChildRow[]>>;
  readonly detail: Detail;
}

const rank = (detail: Detail): number => DETAILS.indexOf(detail);

/** True of a detail that tells more than the other. */
export const isMoreDetailed = (one: Detail, other: Detail): boolean => rank(one) > rank(other);

/** The state after an older sighting that tells more: had it come first, what is known would have filled its nulls. */
export const observeOlder = (table: RootTable, known: RowState, fuller: RowState): RowState =>
  observe(table, fuller, { cells: known.cells, lists: {}, detail: known.detail });

/**
 * The state after a newer sighting: one of the same detail or more writes what it tells, a lesser one fills nulls alone.
 * A row that its source has yet to complete counts as lesser than a complete one.
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
  const untold = table.children.filter(
    ({ name, count }) => name in seen.lists && (known.cells[count] ?? null) === null,
  );
  return {
    cells: { ...known.cells, ...Object.fromEntries(filled) },
    lists: { ...known.lists, ...Object.fromEntries(untold.map(({ name }) => [name, seen.lists[name] ?? []])) },
    detail: known.detail,
  };
}
