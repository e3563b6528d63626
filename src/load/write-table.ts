/** Writes the rows of one root table that many answers tell together, and the lists of those that changed. */
import { TransientError } from '../errors.ts';
import { logChanges } from './history/change-log.ts';
import { arraysOf, type Draft, draftOf, listsOf, type ListWrite, rowsOf } from './merge/changeset.ts';
import type { Fate, Sighting } from './merge/merge.ts';
import { type Due, isDue, lookAt, type Target } from './merge/compare.ts';
import { headsOf, keyArrays } from './merge/stored-rows.ts';
import type { Run } from './sql/executor.ts';
import { deleteOwned, deleteRows, insertRows, updatedColumns, updateRows } from './sql/statements.ts';

/** A row that a complete answer no longer lists. */
export interface Gone {
  readonly id: string;
  readonly answer: number;
}

export interface Written {
  readonly fates: readonly Fate[];
  /** Those that were there and are deleted. */
  readonly deleted: readonly Gone[];
}

/** Others may write between a look and a lock; so often in a row, it is no longer chance. */
const ROUNDS = 8;

/**
 * Writes sightings of one table's entities and takes out what is gone, in key order; returns what became of each. Rows
 * that did not change are only read. `first` is the draft of all of them by a look that may have been a while ago.
 * `goneOf` is asked once, when new rows are in and before any other is held. Throws a TransientError when other writers
 * keep getting in between.
 */
export async function loadRoot(
  target: Target,
  seen: ReadonlyMap<string, readonly Sighting[]>,
  first: Draft,
  goneOf: () => Promise<readonly Gone[]>,
): Promise<Written> {
  const { run, schema, table, contexts } = target;
  const fates: Fate[] = [];
  let deleted: readonly Gone[] | undefined;
  let draft = first;
  for (let round = 0; deleted === undefined || draft.fates.length > 0; round += 1) {
    if (round === ROUNDS)
      throw new TransientError(`other writers keep changing the same rows of ${table.name}`, {
        next: 'Run the sync again.',
      });
    const { updates } = draft;
    const inserting = insert(target, draft.inserts);
    // It fails where it is waited for.
    inserting.catch(() => undefined);
    await run.sent();
    const lists = draft.lists();
    const late = await inserting;
    // Whoever waits for a row while holding others takes them in key order, so those that were lost go first or not at all.
    let taken: readonly Gone[] = [];
    if (late.size > 0) for (const { id } of updates) late.add(id);
    else {
      const gone: readonly Gone[] = deleted ? [] : await goneOf();
      const held = await hold(target, updates, gone);
      for (const id of held.late) late.add(id);
      taken = held.gone;
      deleted ??= taken;
    }
    const isOpen = ({ id }: Fate): boolean => late.has(id);
    const settled = draft.fates.filter((fate) => !isOpen(fate));
    await logChanges(run, schema, table, contexts, seen, settled);
    await update(
      target,
      updates.filter((fate) => !isOpen(fate)),
      taken,
    );
    for (const list of late.size === 0 ? lists : listsOf(table, settled.filter(isDue)))
      await writeList(run, schema, list);
    fates.push(...settled);
    draft = await draftAgain(target, draft.fates.filter(isOpen), seen);
  }
  return { fates, deleted };
}

/** Looks again at those of which others wrote. */
async function draftAgain(
  target: Target,
  open: readonly Fate[],
  seen: ReadonlyMap<string, readonly Sighting[]>,
): Promise<Draft> {
  const ids = open.map(({ id }) => id);
  return draftOf(target, ids, seen, await lookAt(target, ids, seen));
}

/**
 * Adds the new rows, before any other is touched: a row that was there may now refer to one that was not. Returns the
 * ids that somebody else has added meanwhile.
 */
async function insert(target: Target, inserts: readonly Due[]): Promise<Set<string>> {
  if (inserts.length === 0) return new Set();
  const { run, schema, table, contexts } = target;
  const added = await run.insert(schema, table, rowsOf(target, inserts), insertRows(schema, table));
  if (added === inserts.length) return new Set();
  const present = await headsOf(
    run,
    schema,
    table,
    inserts.map(({ id }) => id),
    'not',
  );
  const isLost = ({ id, write: { last, digests } }: Due): boolean => {
    const now = present.get(id);
    return now?.answerId !== BigInt(contexts[last]?.answerId ?? 0) || now.parts !== digests.text;
  };
  return new Set(inserts.filter(isLost).map(({ id }) => id));
}

/** Locks what is to be updated or deleted, and tells what somebody else wrote in the meantime and what is gone indeed. */
async function hold(
  { run, schema, table, contexts }: Target,
  updates: readonly Due[],
  gone: readonly Gone[],
): Promise<{ readonly late: readonly string[]; readonly gone: readonly Gone[] }> {
  const ids = [...updates, ...gone].map(({ id }) => id);
  const held = await headsOf(run, schema, table, ids, gone.length > 0 ? 'update' : 'no key update');
  const isLate = ({ id, resting }: Due): boolean =>
    held.get(id)?.answerId !== resting?.answerId || held.get(id)?.parts !== resting?.parts;
  const isGone = ({ id, answer }: Gone): boolean => {
    const head = held.get(id);
    return head !== undefined && head.answerId <= BigInt(contexts[answer]?.answerId ?? 0);
  };
  return { late: updates.filter(isLate).map(({ id }) => id), gone: gone.filter(isGone) };
}

/** Writes rows that are held, and deletes those that are gone. */
async function update(target: Target, updates: readonly Due[], gone: readonly Gone[]): Promise<void> {
  const { run, schema, table } = target;
  if (updates.length > 0) await run.write(updateRows(schema, table), arraysOf(target, updatedColumns(table), updates));
  if (gone.length > 0)
    await run.write(
      deleteRows(schema, table),
      keyArrays(
        table,
        gone.map(({ id }) => id),
      ),
    );
}

async function writeList(run: Run, schema: string, { child, emptied, lines }: ListWrite): Promise<void> {
  if (emptied) await run.write(deleteOwned(schema, child, child.parentKey), emptied);
  if (lines !== undefined) await run.add(schema, child, lines);
}
