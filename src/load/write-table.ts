/** Writes the rows of one root table that many answers tell together, and the lists of those that changed. */
import { TransientError } from '../errors.ts';
import { logChanges } from './history/change-log.ts';
import { arraysOf, type ChangeSet, buildChangeSet, listsOf, type ListWrite, rowsOf } from './merge/changeset.ts';
import type { MergeResult, Observation } from './merge/merge.ts';
import { type PendingWrite, hasWrite, readStoredFor, type MergeTarget } from './merge/compare-rows.ts';
import { loadHeads, keyArrays } from './merge/stored-rows.ts';
import type { SqlExecutor } from './sql/executor.ts';
import { deleteOwned, deleteRows, insertRows, updatedColumns, updateRows } from './sql/statements.ts';

/** A row that a complete answer no longer lists. */
export interface DeletedRow {
  readonly id: string;
  readonly answer: number;
}

export interface WriteResult {
  readonly results: readonly MergeResult[];
  /** Those that were there and are deleted. */
  readonly deleted: readonly DeletedRow[];
}

/** Others may write between a look and a lock; so often in a row, it is no longer chance. */
const ROUNDS = 8;

/**
 * Writes sightings of one table's entities and takes out what is gone, in key order; returns what became of each. Rows
 * that did not change are only read. `first` is the draft of all of them by a look that may have been a while ago.
 * `goneOf` is asked once, when new rows are in and before any other is held. Throws a TransientError when other writers
 * keep getting in between.
 */
export async function writeTable(
  target: MergeTarget,
  seen: ReadonlyMap<string, readonly Observation[]>,
  first: ChangeSet,
  goneOf: () => Promise<readonly DeletedRow[]>,
): Promise<WriteResult> {
  const { executor, schema, table, contexts } = target;
  const results: MergeResult[] = [];
  let deleted: readonly DeletedRow[] | undefined;
  let draft = first;
  for (let round = 0; deleted === undefined || draft.results.length > 0; round += 1) {
    if (round === ROUNDS)
      throw new TransientError(`other writers keep changing the same rows of ${table.name}`, {
        next: 'Run the sync again.',
      });
    const { updates } = draft;
    const inserting = insert(target, draft.inserts);
    // It fails where it is waited for.
    inserting.catch(() => undefined);
    await executor.yieldToEventLoop();
    const lists = draft.lists();
    const late = await inserting;
    // Whoever waits for a row while holding others takes them in key order, so those that were lost go first or not at all.
    let taken: readonly DeletedRow[] = [];
    if (late.size > 0) for (const { id } of updates) late.add(id);
    else {
      const gone: readonly DeletedRow[] = deleted ? [] : await goneOf();
      const held = await hold(target, updates, gone);
      for (const id of held.late) late.add(id);
      taken = held.gone;
      deleted ??= taken;
    }
    const isOpen = ({ id }: MergeResult): boolean => late.has(id);
    const settled = draft.results.filter((result) => !isOpen(result));
    await logChanges(executor, schema, table, contexts, seen, settled);
    await update(
      target,
      updates.filter((result) => !isOpen(result)),
      taken,
    );
    for (const list of late.size === 0 ? lists : listsOf(table, settled.filter(hasWrite)))
      await writeList(executor, schema, list);
    results.push(...settled);
    draft = await rebuildChangeSet(target, draft.results.filter(isOpen), seen);
  }
  return { results, deleted };
}

/** Looks again at those of which others wrote. */
async function rebuildChangeSet(
  target: MergeTarget,
  open: readonly MergeResult[],
  seen: ReadonlyMap<string, readonly Observation[]>,
): Promise<ChangeSet> {
  const ids = open.map(({ id }) => id);
  return buildChangeSet(target, ids, seen, await readStoredFor(target, ids, seen));
}

/**
 * Adds the new rows, before any other is touched: a row that was there may now refer to one that was not. Returns the
 * ids that somebody else has added meanwhile.
 */
async function insert(target: MergeTarget, inserts: readonly PendingWrite[]): Promise<Set<string>> {
  if (inserts.length === 0) return new Set();
  const { executor, schema, table, contexts } = target;
  const added = await executor.insert(schema, table, rowsOf(target, inserts), insertRows(schema, table));
  if (added === inserts.length) return new Set();
  const present = await loadHeads(
    executor,
    schema,
    table,
    inserts.map(({ id }) => id),
    'not',
  );
  const isLost = ({ id, write: { last, digests } }: PendingWrite): boolean => {
    const now = present.get(id);
    return now?.answerId !== BigInt(contexts[last]?.answerId ?? 0) || now.digests !== digests.text;
  };
  return new Set(inserts.filter(isLost).map(({ id }) => id));
}

/** Locks what is to be updated or deleted, and tells what somebody else wrote in the meantime and what is gone indeed. */
async function hold(
  { executor, schema, table, contexts }: MergeTarget,
  updates: readonly PendingWrite[],
  gone: readonly DeletedRow[],
): Promise<{ readonly late: readonly string[]; readonly gone: readonly DeletedRow[] }> {
  const ids = [...updates, ...gone].map(({ id }) => id);
  const held = await loadHeads(executor, schema, table, ids, gone.length > 0 ? 'update' : 'no key update');
  const isLate = ({ id, stored }: PendingWrite): boolean =>
    held.get(id)?.answerId !== stored?.answerId || held.get(id)?.digests !== stored?.digests;
  const isGone = ({ id, answer }: DeletedRow): boolean => {
    const head = held.get(id);
    return head !== undefined && head.answerId <= BigInt(contexts[answer]?.answerId ?? 0);
  };
  return { late: updates.filter(isLate).map(({ id }) => id), gone: gone.filter(isGone) };
}

/** Writes rows that are held, and deletes those that are gone. */
async function update(
  target: MergeTarget,
  updates: readonly PendingWrite[],
  gone: readonly DeletedRow[],
): Promise<void> {
  const { executor, schema, table } = target;
  if (updates.length > 0)
    await executor.write(updateRows(schema, table), arraysOf(target, updatedColumns(table), updates));
  if (gone.length > 0)
    await executor.write(
      deleteRows(schema, table),
      keyArrays(
        table,
        gone.map(({ id }) => id),
      ),
    );
}

async function writeList(run: SqlExecutor, schema: string, { child, emptied, lines }: ListWrite): Promise<void> {
  if (emptied) await run.write(deleteOwned(schema, child, child.parentKey), emptied);
  if (lines !== undefined) await run.copyRows(schema, child, lines);
}
