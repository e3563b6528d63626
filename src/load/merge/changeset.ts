/** Compares a table's entities with their stored rows, and plans the writes. */
import type { Cell } from '../../normalize/batch.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import { copyPrefix, copyText, type CopySet } from '../../warehouse/sql/copy.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { slotsIn } from './observe.ts';
import type { LoadContext } from './receipt-builder.ts';
import { contentHash, digestsFrom } from './digest.ts';
import {
  startsPartial,
  type MergeResult,
  mergeObservations,
  needsStoredRow,
  type Observation,
  type RowWrite,
} from './merge.ts';
import { keyArrays, loadStates, loadStoredRows, type StoredRows } from './stored-rows.ts';
import { newRows, type NewRows, type SqlExecutor } from '../sql/executor.ts';

/** A table on a connection, and the answers that are loaded into it. */
export interface MergeTarget {
  readonly executor: SqlExecutor;
  readonly table: RootTable;
  readonly contexts: readonly LoadContext[];
}

/** Reads the stored rows of a table's entities, as far as their observations need them. */
export function readStoredFor(
  { executor, table }: MergeTarget,
  ids: readonly string[],
  observations: ReadonlyMap<string, readonly Observation[]>,
): Promise<StoredRows> {
  return loadStoredRows(executor, table, ids, (id) => startsPartial(table, observations.get(id) ?? []));
}

/** Entities per part: about a millisecond. */
const PART = 100;

/** Returns the results for these entities, in order; `pause` lets other work run between two parts. */
async function compareRows(
  { executor, table, contexts }: MergeTarget,
  ids: readonly string[],
  observations: ReadonlyMap<string, readonly Observation[]>,
  { heads, states }: StoredRows,
  pause?: () => Promise<unknown>,
): Promise<MergeResult[]> {
  const answerIds = contexts.map(({ answerId }) => BigInt(answerId));
  const late = ids.filter((id) => {
    const head = heads.get(id);
    return head && !states.has(id) && needsStoredRow(table, observations.get(id) ?? [], answerIds, head);
  });
  const more = await loadStates(executor, table, late);
  const results: MergeResult[] = [];
  for (const [index, id] of ids.entries()) {
    if (pause && index % PART === PART - 1) await pause();
    results.push(
      mergeObservations(
        { table, answerIds },
        id,
        observations.get(id) ?? [],
        heads.get(id),
        states.get(id) ?? more.get(id),
      ),
    );
  }
  return results;
}

/** A result whose row must be written. */
export type PendingWrite = MergeResult & { readonly write: RowWrite };

export const hasWrite = (result: MergeResult): result is PendingWrite => result.write !== undefined;

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
  observations: ReadonlyMap<string, readonly Observation[]>,
  storedRows: StoredRows,
  pause?: () => Promise<unknown>,
): Promise<ChangeSet> {
  const results = await compareRows(target, ids, observations, storedRows, pause);
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
export function arraysOf(target: MergeTarget, names: readonly string[], due: readonly PendingWrite[]): string[] {
  const rows = due.map(rowWriter(target));
  return names.map((name) => {
    const index = target.table.columns.findIndex((column) => column.name === name);
    return arrayLiteralOf(rows, (row) => row[index] ?? null);
  });
}

/** New rows with all columns. */
export const rowsOf = (target: MergeTarget, due: readonly PendingWrite[]): NewRows => newRows(due, rowWriter(target));

/** Returns a function that makes the cells of a row, in the order of the table's columns. */
function rowWriter({ table, contexts }: MergeTarget): (pending: PendingWrite) => Cell[] {
  const contextCell = (answer: number | undefined, of: keyof LoadContext): Cell =>
    answer === undefined ? null : (contexts[answer]?.[of] ?? null);
  const metadata: Readonly<Record<string, (write: RowWrite) => Cell>> = {
    _detail: ({ state }) => state.detail,
    _first_seen_at: ({ first }) => contextCell(first, 'receivedAt'),
    _changed_at: ({ changed }) => contextCell(changed, 'receivedAt'),
    _run_id: ({ last }) => contextCell(last, 'runId'),
    _answer_id: ({ last }) => contextCell(last, 'answerId'),
    _content_hash: ({ digests }) => contentHash(table, digests),
    _part_hashes: ({ digests }) => digests.text,
  };
  const metadataCells = table.columns.slice(table.slots.size).map(({ name }) => {
    const cellOf = metadata[name];
    if (!cellOf) throw new Error(`nothing fills the column ${name} of ${table.name}`);
    return cellOf;
  });
  const { counts } = slotsIn(table);
  return ({ write }) => {
    const row = write.state.values.map((value) => value ?? null);
    for (const [index, slot] of counts.entries()) row[slot] ??= write.counts[index] ?? null;
    for (const cellOf of metadataCells) row.push(cellOf(write));
    return row;
  };
}

/** The lists to replace, each as a set. */
export function listsOf(table: RootTable, due: readonly PendingWrite[]): ListWrite[] {
  if (table.children.length === 0) return [];
  const parents = due.map(({ id, stored, write, steps }) => ({
    id,
    begin: copyPrefix(id.split('\0')),
    before: stored && digestsFrom(stored.digests).lists,
    after: write.digests.lists,
    steps,
  }));
  return table.children.map((child, index) => {
    const emptied: string[] = [];
    const sets: CopySet[] = [];
    for (const { id, begin, before, after, steps } of parents) {
      const rows = steps.findLast(({ lists }) => lists[index])?.lists[index];
      const stored = before ? before[index] : null;
      if (!rows || after[index] === stored) continue;
      if (stored !== null) emptied.push(id);
      if (rows.length > 0) sets.push({ begin, rows });
    }
    return {
      child,
      emptied: emptied.length > 0 ? keyArrays(table, emptied) : undefined,
      lines: sets.length > 0 ? copyText(sets) : undefined,
    };
  });
}
