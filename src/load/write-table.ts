/** Writes the rows of one root table from many answers, and the lists of changed rows. */
import { TransientError } from '../errors.ts';
import { logChanges } from './history/change-log.ts';
import { logListChanges } from './history/list-changes.ts';
import {
  arraysOf,
  type ChangeSet,
  buildChangeSet,
  listsOf,
  type ListWrite,
  rowsOf,
  type PendingWrite,
  hasWrite,
  readStoredFor,
  type MergeTarget,
} from './merge/changeset.ts';
import type { MergeResult, Observation } from './merge/merge.ts';
import { loadHeads, keyArrays, ownIds } from './merge/stored-rows.ts';
import type { DeletedRow } from './sets/owned-sets.ts';
import type { SqlExecutor } from './sql/executor.ts';
import { deleteOwned, deleteRows, insertRows, updatedColumns, updateRows } from './sql/statements.ts';

export interface WriteResult {
  readonly results: readonly MergeResult[];
  /** Rows that existed and were deleted. */
  readonly deleted: readonly DeletedRow[];
}

/** Other writers may change rows between a read and a lock; this many times in a row is not chance. */
const MAX_ROUNDS = 8;

/**
 * Writes observations of one table's entities and deletes missing rows, in key order; returns the result for each.
 * Unchanged rows are only read. `first` is the change set of all entities, from a read that may be outdated. `goneOf`
 * is called once, after new rows are inserted and before other rows are locked. Throws a TransientError if other
 * writers keep interfering.
 */
export async function writeTable(
  target: MergeTarget,
  observations: ReadonlyMap<string, readonly Observation[]>,
  first: ChangeSet,
  goneOf: () => Promise<readonly DeletedRow[]>,
): Promise<WriteResult> {
  const { executor, table } = target;
  const results: MergeResult[] = [];
  let deleted: readonly DeletedRow[] | undefined;
  let changeSet = first;
  for (let round = 0; deleted === undefined || changeSet.results.length > 0; round += 1) {
    if (round === MAX_ROUNDS)
      throw new TransientError(`other writers keep changing the same rows of ${table.name}`, {
        next: 'Run the sync again.',
      });
    const { updates } = changeSet;
    const inserting = insert(target, changeSet.inserts);
    // The error is thrown where the promise is awaited.
    inserting.catch(() => undefined);
    await executor.yieldToEventLoop();
    const lists = changeSet.lists();
    const late = await inserting;
    // Rows must be locked in key order to avoid deadlocks. So if an insert conflicted, no row is updated in this round.
    let lockedForDeletion: readonly DeletedRow[] = [];
    if (late.size > 0) for (const { id } of updates) late.add(id);
    else {
      const gone: readonly DeletedRow[] = deleted ? [] : await goneOf();
      const held = await hold(target, updates, gone);
      for (const id of held.late) late.add(id);
      lockedForDeletion = held.gone;
      deleted ??= lockedForDeletion;
    }
    const isOpen = ({ id }: MergeResult): boolean => late.has(id);
    const settled = changeSet.results.filter((result) => !isOpen(result));
    await logChanges(target, observations, settled, lockedForDeletion);
    await logListChanges(target, settled);
    await update(
      target,
      updates.filter((result) => !isOpen(result)),
      lockedForDeletion,
    );
    for (const list of late.size === 0 ? lists : listsOf(table, settled.filter(hasWrite)))
      await writeList(executor, list);
    for (const result of settled) results.push(result);
    changeSet = await rebuildChangeSet(target, changeSet.results.filter(isOpen), observations);
  }
  return { results, deleted };
}

/** Reads and compares the rows again that other writers changed. */
async function rebuildChangeSet(
  target: MergeTarget,
  open: readonly MergeResult[],
  observations: ReadonlyMap<string, readonly Observation[]>,
): Promise<ChangeSet> {
  const ids = open.map(({ id }) => id);
  return buildChangeSet(target, ids, observations, await readStoredFor(target, ids, observations));
}

/**
 * Inserts the new rows before any other is written, since an existing row may now refer to a new one. Returns the ids
 * that another writer inserted meanwhile.
 */
async function insert(target: MergeTarget, inserts: readonly PendingWrite[]): Promise<Set<string>> {
  if (inserts.length === 0) return new Set();
  const { executor, table } = target;
  const added = await executor.insert(table, rowsOf(target, inserts), insertRows(executor.schema, table));
  if (added === inserts.length) return new Set();
  // The contents do not show it: another load of the same answer inserts equal rows.
  const ids = inserts.map(({ id }) => id);
  const own = await ownIds(executor, table, ids);
  // A row of this load that counted as another writer's would never get its lists.
  if (own.size !== added)
    throw new TransientError(`other writers inserted rows of ${table.name}, and it is not known which`, {
      next: 'Run the sync again.',
    });
  return new Set(ids.filter((id) => !own.has(id)));
}

/**
 * Locks rows to update or delete. Returns the updates that other writers made outdated, and the rows that may still be
 * deleted.
 */
async function hold(
  { executor, table, contexts }: MergeTarget,
  updates: readonly PendingWrite[],
  gone: readonly DeletedRow[],
): Promise<{ readonly late: readonly string[]; readonly gone: readonly DeletedRow[] }> {
  const ids = [...updates, ...gone].map(({ id }) => id);
  const held = await loadHeads(executor, table, ids, gone.length > 0 ? 'update' : 'no key update');
  const isLate = ({ id, stored }: PendingWrite): boolean =>
    held.get(id)?.answerId !== stored?.answerId || held.get(id)?.digests !== stored?.digests;
  const isGone = ({ id, answer }: DeletedRow): boolean => {
    const head = held.get(id);
    return head !== undefined && head.answerId <= BigInt(contexts[answer]?.answerId ?? 0);
  };
  return { late: updates.filter(isLate).map(({ id }) => id), gone: gone.filter(isGone) };
}

/** Updates locked rows, and deletes the missing ones. */
async function update(
  target: MergeTarget,
  updates: readonly PendingWrite[],
  gone: readonly DeletedRow[],
): Promise<void> {
  const { executor, table } = target;
  if (updates.length > 0)
    await executor.write(updateRows(executor.schema, table), arraysOf(target, updatedColumns(table), updates));
  if (gone.length > 0)
    await executor.write(
      deleteRows(executor.schema, table),
      keyArrays(
        table,
        gone.map(({ id }) => id),
      ),
    );
}

async function writeList(executor: SqlExecutor, { child, emptied, lines }: ListWrite): Promise<void> {
  if (emptied) await executor.write(deleteOwned(executor.schema, child, child.parentKey), emptied);
  if (lines !== undefined) await executor.copyRows(child, lines);
}
