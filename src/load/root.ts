/** Writes the rows of one root table that many answers tell together, and the lists of those that changed. */
import { TransientError } from '../errors.ts';
import type { Cell } from '../normalize/batch.ts';
import { arrayLiteralOf } from '../warehouse/array.ts';
import { copyText, type Rows } from '../warehouse/copy.ts';
import type { ChildTable, RootTable } from '../warehouse/table.ts';
import type { LoadContext } from './answer.ts';
import { contentHash, digestsFrom } from './digest.ts';
import { logChanges } from './changes.ts';
import { beginsInPart, type Fate, fateOf, needsRow, type Sighting, type Write } from './fold.ts';
import { headsOf, keyArrays, type Resting, restingOf, statesOf } from './resting.ts';
import type { Run } from './run.ts';
import { deleteOwned, deleteRows, insertRows, updatedColumns, updateRows } from './statements.ts';

/** A table on a connection, and the answers that are loaded into it. */
export interface Target {
  readonly run: Run;
  readonly schema: string;
  readonly table: RootTable;
  readonly contexts: readonly LoadContext[];
}

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
 * that did not change are only read. `goneOf` is asked once, when new rows are in and before any other is held. `looked`
 * is what a look at all of them has shown. Throws a TransientError when other writers keep getting in between.
 */
export async function loadRoot(
  target: Target,
  seen: ReadonlyMap<string, readonly Sighting[]>,
  goneOf: () => Promise<readonly Gone[]>,
  looked?: Promise<Resting>,
): Promise<Written> {
  const fates: Fate[] = [];
  let deleted: readonly Gone[] | undefined;
  let open = [...seen.keys()].toSorted();
  for (let round = 0; deleted === undefined || open.length > 0; round += 1) {
    if (round === ROUNDS)
      throw new TransientError(`other writers keep changing the same rows of ${target.table.name}`, {
        next: 'Run the sync again.',
      });
    const resting = round === 0 && looked ? await looked : await lookAt(target, open, seen);
    const judged = await judge(target, open, seen, resting);
    const due = judged.filter(isDue);
    const updates = due.filter(({ resting }) => resting);
    const inserting = insert(target, due);
    // It fails where it is waited for.
    inserting.catch(() => undefined);
    await target.run.sent();
    const lists = listsOf(target, due);
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
    const { run, schema, table, contexts } = target;
    const settled = judged.filter(({ id }) => !late.has(id));
    await logChanges(run, schema, table, contexts, seen, settled);
    const changed = updates.filter(({ id }) => !late.has(id));
    await update(target, changed, taken);
    const written = due.filter(({ id }) => !late.has(id));
    for (const list of late.size === 0 ? lists : listsOf(target, written)) await writeList(run, schema, list);
    for (const fate of judged) if (!late.has(fate.id)) fates.push(fate);
    open = open.filter((id) => late.has(id));
  }
  return { fates, deleted };
}

/** What rests in the warehouse of the entities of a table, as far as their sightings make it needed. */
export function lookAt(
  { run, schema, table }: Pick<Target, 'run' | 'schema' | 'table'>,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Sighting[]>,
): Promise<Resting> {
  return restingOf(run, schema, table, ids, (id) => beginsInPart(table, seen.get(id) ?? []));
}

/** What becomes of each entity, from what rests in the warehouse and what was seen. */
async function judge(
  { run, schema, table, contexts }: Target,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Sighting[]>,
  { heads, states }: Resting,
): Promise<Fate[]> {
  const answerIds = contexts.map(({ answerId }) => BigInt(answerId));
  const late = ids.filter((id) => {
    const head = heads.get(id);
    return head && !states.has(id) && needsRow(table, seen.get(id) ?? [], answerIds, head);
  });
  const more = await statesOf(run, schema, table, late);
  return ids.map((id) =>
    fateOf(table, id, seen.get(id) ?? [], answerIds, heads.get(id), states.get(id) ?? more.get(id)),
  );
}

/** A fate whose row is to be written. */
type Due = Fate & { readonly write: Write };

const isDue = (fate: Fate): fate is Due => fate.write !== undefined;

/**
 * Adds the new rows, before any other is touched: a row that was there may now refer to one that was not. Returns the
 * ids that somebody else has added meanwhile.
 */
async function insert(target: Target, due: readonly Due[]): Promise<Set<string>> {
  const inserts = due.filter(({ resting }) => !resting);
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
  if (updates.length > 0) await run.write(updateRows(schema, table), valuesOf(target, updatedColumns(table), updates));
  if (gone.length > 0)
    await run.write(
      deleteRows(schema, table),
      keyArrays(
        table,
        gone.map(({ id }) => id),
      ),
    );
}

/** One array a column. */
const valuesOf = (target: Target, names: readonly string[], writes: readonly Due[]): string[] =>
  names.map((name) => {
    const of = cellOf(target, name);
    return arrayLiteralOf(writes, ({ write }) => of(write));
  });

/** All columns of each row. */
function rowsOf(target: Target, writes: readonly Due[]): Cell[][] {
  const columns = target.table.columns.map(({ name }) => cellOf(target, name));
  return writes.map(({ write }) => columns.map((of) => of(write)));
}

/** What a row has in this column. */
function cellOf({ table, contexts }: Target, name: string): (write: Write) => Cell {
  const at = (answer: number | undefined, of: keyof LoadContext): Cell =>
    answer === undefined ? null : (contexts[answer]?.[of] ?? null);
  const machinery: Readonly<Record<string, (write: Write) => Cell>> = {
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

/** A list of those parents of which it differs. */
interface ListWrite {
  readonly child: ChildTable;
  /** The parents that have one, as parameters; absent when none has. */
  readonly emptied: readonly string[] | undefined;
  /** As they are copied; absent when none has a row. */
  readonly lines: string | undefined;
}

/** The lists that are to be replaced, each as a set. */
function listsOf({ table }: Target, written: readonly Due[]): ListWrite[] {
  const parents = written.map(({ id, resting, write, steps }) => ({
    id,
    key: id.split('\0'),
    before: resting && digestsFrom(resting.parts).lists,
    after: write.digests.lists,
    steps: steps.filter(({ lists }) => lists.size > 0),
  }));
  return table.children.map((child, index) => {
    const emptied: string[] = [];
    const sets: Rows[] = [];
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

async function writeList(run: Run, schema: string, { child, emptied, lines }: ListWrite): Promise<void> {
  if (emptied) await run.write(deleteOwned(schema, child, child.parentKey), emptied);
  if (lines !== undefined) await run.add(schema, child, lines);
}
