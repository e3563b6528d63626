/** Decides which answers may be loaded together; pure. */
import { rootTables } from '../warehouse/schema/tables.ts';
import type { Batch } from '../normalize/batch.ts';

/** The limits of one group, which bound memory and the duration of row locks. */
export interface LoadLimits {
  /** Rows of root tables, child tables and bridges. */
  readonly rows: number;
  /** Bytes of the answers. */
  readonly bytes: number;
  readonly answers?: number;
}

/**
 * Large enough that the cost of statements and commits is negligible, while rows are locked for well under a second.
 */
export const DEFAULT_LOAD_LIMITS: LoadLimits = { rows: 5_000, bytes: 8 * 2 ** 20 };

/** An answer's rows, and its size. */
export interface SizedBatch {
  readonly batch: Batch;
  readonly bytes: number;
}

/** Answers that may be loaded together, in order. */
export interface Group<T> {
  readonly answers: readonly T[];
  /** Adds the next answer; false if it may not be loaded with those of the group. */
  readonly admit: (answer: T) => boolean;
}

/**
 * Creates an empty group. An answer may not join if it shares a set with the group: the rows of one owner, or the
 * bridge of one question. The result of such an answer depends on the one before it. It may not join either if the
 * group would exceed the limits; an answer that exceeds them alone is a group of its own.
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

const ownedTables = rootTables.flatMap(({ name, resource, slots }) =>
  resource.owner ? [{ table: name, owner: resource.owner.map((column) => slots.get(column) ?? -1) }] : [],
);

/** Returns what answers touch: their sets and their entities. */
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
    ...ownedTables.flatMap(({ table, owner: slots }) =>
      (roots.get(table) ?? []).map(({ values }) => JSON.stringify([table, ...slots.map((slot) => values[slot])])),
    ),
  ]);
}

/** The most rows that an answer can write. */
function rowsIn({ roots, bridge }: Batch): number {
  let rows = bridge?.rows.length ?? 0;
  for (const rootRows of roots.values())
    for (const { lists } of rootRows) {
      rows += 1;
      for (const list of lists) rows += list?.length ?? 0;
    }
  return rows;
}
