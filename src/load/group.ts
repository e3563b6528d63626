/** Which answers may be loaded together; pure. */
import { rootTables } from '../warehouse/schema/tables.ts';
import type { Batch } from '../normalize/batch.ts';

/** How much one group may hold, so that memory and the time for which rows are locked stay bounded. */
export interface LoadLimits {
  /** Rows of root tables, child tables and bridges. */
  readonly rows: number;
  /** Bytes of the answers. */
  readonly bytes: number;
  readonly answers?: number;
}

/** Enough for the cost of statements and commits to vanish, with rows locked for well under a second. */
export const DEFAULT_LOAD_LIMITS: LoadLimits = { rows: 5_000, bytes: 8 * 2 ** 20 };

/** An answer's rows, and how long it was. */
export interface SizedBatch {
  readonly batch: Batch;
  readonly bytes: number;
}

/** Answers that may be loaded together, in their order. */
export interface Group<T> {
  readonly answers: readonly T[];
  /** Adds the next answer; false when it may not be loaded with those that are here. */
  readonly admit: (answer: T) => boolean;
}

/**
 * An empty group. The next answer may not join it when it would touch a set that one of the group touches, the rows of one
 * owner or the bridge of one question, because what an answer finds there depends on what the one before left; nor when
 * the group would grow beyond the bounds. An answer that is beyond them by itself is a group of its own.
 */
export function openGroup<T extends SizedBatch>(most: LoadLimits): Group<T> {
  const answers: T[] = [];
  const sets = new Set<string>();
  let rows = 0;
  let bytes = 0;
  return {
    answers,
    admit: (answer) => {
      const own = setsOf(answer.batch);
      const size = rowsIn(answer.batch);
      const isFull = answers.length === most.answers || rows + size > most.rows || bytes + answer.bytes > most.bytes;
      if (answers.length > 0 && (isFull || !own.isDisjointFrom(sets))) return false;
      answers.push(answer);
      for (const it of own) sets.add(it);
      rows += size;
      bytes += answer.bytes;
      return true;
    },
  };
}

const ownedTables = rootTables.flatMap(({ name, resource }) =>
  resource.owner ? [{ table: name, owner: resource.owner }] : [],
);

/** What answers touch: their sets, and the entities that they show. */
export const conflictKeys = (answers: readonly Pick<SizedBatch, 'batch'>[]): ReadonlySet<string> =>
  new Set(
    answers.flatMap(({ batch }) => [
      ...setsOf(batch),
      ...[...batch.roots].flatMap(([table, rows]) => rows.map(({ id }) => `${table} ${id}`)),
    ]),
  );

/** The sets that an answer touches. */
function setsOf({ bridge, owner, roots }: Batch): ReadonlySet<string> {
  return new Set([
    ...(bridge ? [JSON.stringify([bridge.table, ...Object.values(bridge.questionCells)])] : []),
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
