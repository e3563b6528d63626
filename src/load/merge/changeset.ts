/** What is to be written of a table's entities, before any of it is. */
import type { Cell } from '../../normalize/batch.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import { copyText, type CopySet } from '../../warehouse/sql/copy.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { LoadContext } from './receipt-builder.ts';
import { contentHash, digestsFrom } from './digest.ts';
import type { MergeResult, Observation, RowWrite } from './merge.ts';
import { type PendingWrite, hasWrite, compareRows, type MergeTarget } from './compare-rows.ts';
import { keyArrays, type StoredRows } from './stored-rows.ts';
import { newRows, type NewRows } from '../sql/executor.ts';

export interface ChangeSet {
  readonly results: readonly MergeResult[];
  /** Those whose rows are new. */
  readonly inserts: readonly PendingWrite[];
  readonly updates: readonly PendingWrite[];
  /** Made when they are first asked for: while the rows are on their way. */
  readonly lists: () => readonly ListWrite[];
}

/** A list of those parents of which it differs. */
export interface ListWrite {
  readonly child: ChildTable;
  /** The parents that have one, as parameters; absent when none has. */
  readonly emptied: readonly string[] | undefined;
  /** As they are copied; absent when none has a row. */
  readonly lines: string | undefined;
}

/** Drafts what becomes of these entities, in their order; lets other work go on between two parts of it by `pause`. */
export async function buildChangeSet(
  target: MergeTarget,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Observation[]>,
  resting: StoredRows,
  pause?: () => Promise<unknown>,
): Promise<ChangeSet> {
  const results = await compareRows(target, ids, seen, resting, pause);
  const due = results.filter(hasWrite);
  let lists: readonly ListWrite[] | undefined;
  return {
    results,
    inserts: due.filter((it) => !it.stored),
    updates: due.filter((it) => it.stored),
    lists: () => (lists ??= listsOf(target.table, due)),
  };
}

/** These columns of rows, an array each. */
export const arraysOf = (
  { table, contexts }: MergeTarget,
  names: readonly string[],
  due: readonly PendingWrite[],
): string[] =>
  names.map((name) => {
    const of = cellOf(table, contexts, name);
    return arrayLiteralOf(due, ({ write }) => of(write));
  });

/** New rows, all columns of each. */
export const rowsOf = ({ table, contexts }: MergeTarget, due: readonly PendingWrite[]): NewRows =>
  newRows(
    due,
    table.columns.map(({ name }) => {
      const of = cellOf(table, contexts, name);
      return ({ write }) => of(write);
    }),
  );

/** What a row has in this column. */
function cellOf(table: RootTable, contexts: readonly LoadContext[], name: string): (write: RowWrite) => Cell {
  const at = (answer: number | undefined, of: keyof LoadContext): Cell =>
    answer === undefined ? null : (contexts[answer]?.[of] ?? null);
  const machinery: Readonly<Record<string, (write: RowWrite) => Cell>> = {
    _detail: ({ state }) => state.detail,
    _first_seen_at: ({ first }) => at(first, 'receivedAt'),
    _changed_at: ({ changed }) => at(changed, 'receivedAt'),
    _run_id: ({ last }) => at(last, 'runId'),
    _answer_id: ({ last }) => at(last, 'answerId'),
    _content_hash: ({ digests }) => contentHash(table, digests),
    _part_hashes: ({ digests }) => digests.text,
  };
  return machinery[name] ?? (({ state, counts }) => state.cells[name] ?? counts[name] ?? null);
}

/** The lists that are to be replaced, each as a set. */
export function listsOf(table: RootTable, due: readonly PendingWrite[]): ListWrite[] {
  const parents = due.map(({ id, stored, write, steps }) => ({
    id,
    key: id.split('\0'),
    before: stored && digestsFrom(stored.digests).lists,
    after: write.digests.lists,
    steps: steps.filter(({ lists }) => lists.size > 0),
  }));
  return table.children.map((child, index) => {
    const emptied: string[] = [];
    const sets: CopySet[] = [];
    for (const { id, key, before, after, steps } of parents) {
      const rows = steps.findLast(({ lists }) => lists.has(index))?.lists.get(index);
      const there = before ? before[index] : null;
      if (!rows || after[index] === there) continue;
      if (there !== null) emptied.push(id);
      if (rows.length > 0) sets.push({ key, rows });
    }
    return {
      child,
      emptied: emptied.length > 0 ? keyArrays(table, emptied) : undefined,
      lines: sets.length > 0 ? copyText(sets) : undefined,
    };
  });
}
