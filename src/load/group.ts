/** Which answers may be loaded together; pure. */
import { rootTables } from '../warehouse/table.ts';
import type { Batch } from '../normalize/batch.ts';

/** How much one group may hold, so that memory and the time for which rows are locked stay bounded. */
export interface Bounds {
  /** Rows of root tables, child tables and bridges. */
  readonly rows: number;
  /** Bytes of the answers. */
  readonly bytes: number;
}

/** Enough for the cost of statements and commits to vanish, with rows locked for well under a second. */
export const TOGETHER: Bounds = { rows: 5_000, bytes: 8 * 2 ** 20 };

/** An answer's rows, and how long it was. */
export interface Weighed {
  readonly batch: Batch;
  readonly bytes: number;
}

/**
 * Cuts answers, in their order, into groups that may be loaded together. A group ends where the next answer would touch
 * a set that one of it touches, the rows of one owner or the bridge of one question, because what an answer finds there
 * depends on what the one before left; and where it would grow beyond the bounds. An answer that is beyond them by
 * itself is a group of its own. Answers are taken one by one, so no more than a group is held, and one answer after it.
 */
export async function* groupsOf<T extends Weighed>(
  answers: Iterable<T> | AsyncIterable<T>,
  most: Bounds,
): AsyncGenerator<T[], undefined> {
  let group: T[] = [];
  let sets = new Set<string>();
  let rows = 0;
  let bytes = 0;
  for await (const answer of answers) {
    const own = setsOf(answer.batch);
    const size = rowsIn(answer.batch);
    const isFull = rows + size > most.rows || bytes + answer.bytes > most.bytes;
    if (group.length > 0 && (isFull || !own.isDisjointFrom(sets))) {
      yield group;
      group = [];
      sets = new Set();
      rows = 0;
      bytes = 0;
    }
    group.push(answer);
    for (const it of own) sets.add(it);
    rows += size;
    bytes += answer.bytes;
  }
  if (group.length > 0) yield group;
  return undefined;
}

const ownedTables = rootTables.flatMap(({ name, resource }) =>
  resource.owner ? [{ table: name, owner: resource.owner }] : [],
);

/** The sets that an answer touches. */
function setsOf({ bridge, owner, roots }: Batch): ReadonlySet<string> {
  return new Set([
    ...(bridge ? [JSON.stringify([bridge.table, ...Object.values(bridge.asked)])] : []),
    ...(owner ? [JSON.stringify([owner.table, ...Object.values(owner.key)])] : []),
    ...ownedTables.flatMap(({ table, owner: names }) =>
      (roots.get(table) ?? []).map(({ cells }) => JSON.stringify([table, ...names.map((it) => cells[it])])),
    ),
  ]);
}

/** As many rows as an answer can come to. */
function rowsIn({ roots, bridge }: Batch): number {
  let rows = bridge?.rows.length ?? 0;
  for (const told of roots.values())
    for (const { lists } of told) {
      rows += 1;
      for (const list of Object.values(lists)) rows += list.length;
    }
  return rows;
}
