/** Writes the rows of one root table, and the lists of those that changed. */
import { TransientError } from '../errors.ts';
import type { Cell, ChildRow, RootRow } from '../normalize/batch.ts';
import type { ChildTable, RootTable } from '../warehouse/table.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import {
  childRows,
  contentColumns,
  contentHash,
  type Digests,
  digestsOf,
  digestsText,
  sameContent,
  sameDigests,
} from './digest.ts';
import { type Head, headsOf, keyArrays, statesOf } from './resting.ts';
import type { Run } from './run.ts';
import { sighted, type State } from './state.ts';
import { deleteOwned, insertRows, updateRows } from './statements.ts';

/** What every row of a load carries. */
export interface LoadContext {
  readonly schema: string;
  readonly answerId: string;
  readonly runId: string;
  /** RFC 3339; the clock of the answer, never that of the load. */
  readonly receivedAt: string;
}

/** What became of a row: `refreshed` is a difference in volatile parts alone. */
export type Verdict = 'inserted' | 'changed' | 'refreshed' | 'unchanged' | 'superseded';

interface Write {
  readonly id: string;
  readonly state: State;
  readonly digests: Digests;
  readonly head: Head | undefined;
  readonly verdict: Verdict;
}

/** Others may write between a look and a lock; so often in a row, it is no longer chance. */
const ROUNDS = 8;

/**
 * Writes sightings of one table's entities, in key order, and returns what became of each by id. Rows that did not
 * change are only read. Throws a TransientError when other writers keep getting in between.
 */
export async function loadRoot(
  run: Run,
  table: RootTable,
  rows: readonly RootRow[],
  context: LoadContext,
  tally: (table: string, rows: number) => void,
): Promise<ReadonlyMap<string, Verdict>> {
  const seen = new Map<string, RootRow[]>();
  for (const row of rows) {
    const group = seen.get(row.id);
    if (group) group.push(row);
    else seen.set(row.id, [row]);
  }
  const verdicts = new Map<string, Verdict>();
  let open = [...seen.keys()].toSorted();
  for (let round = 0; open.length > 0; round += 1) {
    if (round === ROUNDS)
      throw new TransientError(`other writers keep changing the same rows of ${table.name}`, {
        next: 'Run the sync again.',
      });
    const writes = await judge(run, table, open, seen, context);
    const late = await write(run, table, writes, context, tally);
    for (const { id, verdict } of writes) if (!late.has(id)) verdicts.set(id, verdict);
    open = open.filter((id) => late.has(id));
  }
  return verdicts;
}

/** Decides what to do with each entity, from what rests in the warehouse and what was seen. */
async function judge(
  run: Run,
  table: RootTable,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly RootRow[]>,
  context: LoadContext,
): Promise<Write[]> {
  const heads = await headsOf(run, table, ids, context.schema, false);
  const answerId = BigInt(context.answerId);
  const isOld = (id: string): boolean => (heads.get(id)?.answerId ?? -1n) > answerId;
  const columns = contentColumns(table).map(({ name }) => name);
  const partial = ids.filter(
    (id) => heads.has(id) && !isOld(id) && !(seen.get(id) ?? []).some((row) => isTotal(table, columns, row)),
  );
  const resting = await statesOf(run, table, partial, context.schema);
  return ids.map((id) => {
    const head = heads.get(id);
    const state = (seen.get(id) ?? []).reduce<State | undefined>(
      (known, row) => sighted(table, known, row),
      resting.get(id),
    );
    if (!state) throw new Error(`no sighting of ${table.name}`);
    const digests = digestsOf(table, collapsed(table, state), head?.digests);
    return {
      id,
      state: collapsed(table, state),
      digests,
      head,
      verdict: isOld(id) ? 'superseded' : verdictOf(table, head, digests),
    };
  });
}

function verdictOf(table: RootTable, head: Head | undefined, digests: Digests): Verdict {
  if (!head) return 'inserted';
  if (sameDigests(head.digests, digests)) return 'unchanged';
  return sameContent(table, head.digests, digests) ? 'refreshed' : 'changed';
}

/** True of a sighting that leaves nothing of an older row standing but lists it does not tell. */
const isTotal = (table: RootTable, columns: readonly string[], row: RootRow): boolean =>
  row.detail === 'full' &&
  table.resource.unfinished?.(row.cells) !== true &&
  columns.every((name) => name in row.cells);

const collapsed = (table: RootTable, state: State): State => ({
  ...state,
  lists: Object.fromEntries(
    table.children.flatMap((child) => {
      const rows = state.lists[child.name];
      return rows ? [[child.name, childRows(child, rows)]] : [];
    }),
  ),
});

/** Writes what differs; returns the ids that somebody else wrote in the meantime. */
async function write(
  run: Run,
  table: RootTable,
  writes: readonly Write[],
  context: LoadContext,
  tally: (table: string, rows: number) => void,
): Promise<ReadonlySet<string>> {
  const late = await insert(run, table, writes, context);
  // Whoever waits for a row while holding others takes them in key order, so those that were lost go first or not at all.
  if (late.size > 0) for (const { id, verdict } of writes) if (isUpdate(verdict)) late.add(id);
  const updates = writes.filter(({ id, verdict }) => isUpdate(verdict) && !late.has(id));
  const ids = updates.map(({ id }) => id);
  const locked = await headsOf(run, table, ids, context.schema, true);
  for (const { id, head } of updates) {
    const now = locked.get(id);
    if (!now || !head || now.answerId !== head.answerId || !sameDigests(now.digests, head.digests)) late.add(id);
  }
  const due = updates.filter(({ id }) => !late.has(id));
  if (due.length > 0)
    await run.count(
      updateRows(context.schema, table, writtenColumns(table, false)),
      valuesOf(table, due, context, false),
    );
  const inserts = writes.filter(({ verdict }) => verdict === 'inserted');
  const written = [...due, ...inserts.filter(({ id }) => !late.has(id))].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  tally(table.name, written.length);
  for (const [index, child] of table.children.entries())
    await writeList(run, table, child, index, written, context, tally);
  return late;
}

const isUpdate = (verdict: Verdict): boolean => verdict === 'changed' || verdict === 'refreshed';

/**
 * Adds the new rows, before any other is touched: a row that was there may now refer to one that was not. Returns the
 * ids that somebody else has added meanwhile.
 */
async function insert(
  run: Run,
  table: RootTable,
  writes: readonly Write[],
  context: LoadContext,
): Promise<Set<string>> {
  const inserts = writes.filter(({ verdict }) => verdict === 'inserted');
  if (inserts.length === 0) return new Set();
  const added = await run.count(
    insertRows(context.schema, table, writtenColumns(table, true)),
    valuesOf(table, inserts, context, true),
  );
  if (added === inserts.length) return new Set();
  const ids = inserts.map(({ id }) => id);
  const present = await headsOf(run, table, ids, context.schema, false);
  return new Set(ids.filter((id) => present.get(id)?.answerId !== BigInt(context.answerId)));
}

const writtenColumns = (table: RootTable, fresh: boolean): string[] =>
  table.columns.map(({ name }) => name).filter((name) => fresh || name !== '_first_seen_at');

function valuesOf(table: RootTable, writes: readonly Write[], context: LoadContext, fresh: boolean): string[] {
  const machinery: Record<string, (write: Write) => Cell> = {
    _detail: ({ state }) => state.detail,
    _first_seen_at: () => context.receivedAt,
    _changed_at: ({ verdict }) => (verdict === 'refreshed' ? null : context.receivedAt),
    _run_id: () => context.runId,
    _answer_id: () => context.answerId,
    _content_hash: ({ digests }) => contentHash(table, digests),
    _part_hashes: ({ digests }) => digestsText(digests),
  };
  return writtenColumns(table, fresh).map((name) => {
    const of = machinery[name] ?? ((it: Write): Cell => it.state.cells[name] ?? it.head?.counts[name] ?? null);
    return arrayLiteral(writes.map(of));
  });
}

/** Replaces a list as a set, for those parents of which it differs. */
async function writeList(
  run: Run,
  table: RootTable,
  child: ChildTable,
  index: number,
  writes: readonly Write[],
  context: LoadContext,
  tally: (table: string, rows: number) => void,
): Promise<void> {
  const differing = writes.filter(
    ({ state, digests, head }) =>
      child.name in state.lists && digests.lists[index] !== (head?.digests.lists[index] ?? null),
  );
  const emptied = differing.filter(({ head }) => (head?.digests.lists[index] ?? null) !== null);
  if (emptied.length > 0)
    await run.count(
      deleteOwned(context.schema, child, child.parentKey),
      keyArrays(
        table,
        emptied.map(({ id }) => id),
      ),
    );
  const rows = differing.flatMap(({ id, state }) =>
    (state.lists[child.name] ?? []).map((row): ChildRow => [...id.split('\0'), ...row]),
  );
  if (rows.length === 0) return;
  const names = child.columns.map(({ name }) => name);
  await run.count(
    insertRows(context.schema, child, names),
    names.map((_, column) => arrayLiteral(rows.map((row) => row[column] ?? null))),
  );
  tally(child.name, rows.length);
}
