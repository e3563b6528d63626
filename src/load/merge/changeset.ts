/** The planned writes of a table's entities. */
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
  /** Results whose rows are new. */
  readonly inserts: readonly PendingWrite[];
  readonly updates: readonly PendingWrite[];
  /** Computed on the first call, while the rows are being sent. */
  readonly lists: () => readonly ListWrite[];
}

/** The rows of a child table, for the parents whose lists differ. */
export interface ListWrite {
  readonly child: ChildTable;
  /** The keys of parents with an existing list, as parameters; absent if there is none. */
  readonly emptied: readonly string[] | undefined;
  /** The rows as COPY text; absent if there is none. */
  readonly lines: string | undefined;
}

/** Builds the change set of these entities, in order; `pause` lets other work run between two parts. */
export async function buildChangeSet(
  target: MergeTarget,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Observation[]>,
  storedRows: StoredRows,
  pause?: () => Promise<unknown>,
): Promise<ChangeSet> {
  const results = await compareRows(target, ids, seen, storedRows, pause);
  const due = results.filter(hasWrite);
  let lists: readonly ListWrite[] | undefined;
  return {
    results,
    inserts: due.filter((it) => !it.stored),
    updates: due.filter((it) => it.stored),
    lists: () => (lists ??= listsOf(target.table, due)),
  };
}

/** These columns of the rows, one array per column. */
export const arraysOf = (
  { table, contexts }: MergeTarget,
  names: readonly string[],
  due: readonly PendingWrite[],
): string[] =>
  names.map((name) => {
    const of = cellOf(table, contexts, name);
    return arrayLiteralOf(due, ({ write }) => of(write));
  });

/** New rows with all columns. */
export const rowsOf = ({ table, contexts }: MergeTarget, due: readonly PendingWrite[]): NewRows =>
  newRows(
    due,
    table.columns.map(({ name }) => {
      const of = cellOf(table, contexts, name);
      return ({ write }) => of(write);
    }),
  );

/** Returns the cell of a row in this column. */
function cellOf(table: RootTable, contexts: readonly LoadContext[], name: string): (write: RowWrite) => Cell {
  const contextCell = (answer: number | undefined, of: keyof LoadContext): Cell =>
    answer === undefined ? null : (contexts[answer]?.[of] ?? null);
  const machinery: Readonly<Record<string, (write: RowWrite) => Cell>> = {
    _detail: ({ state }) => state.detail,
    _first_seen_at: ({ first }) => contextCell(first, 'receivedAt'),
    _changed_at: ({ changed }) => contextCell(changed, 'receivedAt'),
    _run_id: ({ last }) => contextCell(last, 'runId'),
    _answer_id: ({ last }) => contextCell(last, 'answerId'),
    _content_hash: ({ digests }) => contentHash(table, digests),
    _part_hashes: ({ digests }) => digests.text,
  };
  return machinery[name] ?? (({ state, counts }) => state.cells[name] ?? counts[name] ?? null);
}

/** The lists to replace, each as a set. */
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
