/** Batches in, receipts out: writes the rows of many answers inside the caller's transaction, a set of statements a table. */
import { bridgeTables, rootTables } from '../warehouse/schema/tables.ts';
import type { RootTable } from '../warehouse/schema/table-types.ts';
import { type ReceiptBuilder, type LoadItem, openReceiptBuilder } from './merge/receipt-builder.ts';
import { loadBridges } from './sets/bridges.ts';
import { writeDailyRows } from './history/daily.ts';
import { type ChangeSet, buildChangeSet } from './merge/changeset.ts';
import type { Observation } from './merge/merge.ts';
import { readStoredFor, type MergeTarget } from './merge/compare-rows.ts';
import { ownedSets } from './sets/owned-sets.ts';
import type { Receipt } from './merge/receipt.ts';
import type { StoredRows } from './merge/stored-rows.ts';
import { type DeletedRow, writeTable } from './write-table.ts';
import type { SqlExecutor } from './sql/executor.ts';

/**
 * Writes all rows of the answers of a group, what others refer to first, and returns a receipt for each. Rows and
 * receipts are those that loading one answer after the other would give; `openGroup` says which answers may be loaded
 * together. What did not change is not written; what a newer answer said is not overwritten. Throws a TransientError
 * when other writers get in between too often; the database's own errors pass through, and nothing is then committed.
 */
export async function load(executor: SqlExecutor, schema: string, group: readonly LoadItem[]): Promise<Receipt[]> {
  const receipts = group.map(({ batch }) => openReceiptBuilder(batch));
  const wrote = (answer: number, table: string, rows: number): void => receipts[answer]?.addWritten(table, rows);
  await executor.write(BY_INDEX, []);
  const contexts = group.map(({ context }) => context);
  const targets = rootTables
    .filter(({ name }) => group.some(({ batch }) => batch.roots.has(name) || batch.owner?.table === name))
    .map((table): MergeTarget => ({ executor, schema, table, contexts }));
  const prefetched = prefetchTables(targets, group);
  try {
    for (const target of targets) await loadTable(target, group, receipts, prefetched.get(target.table));
  } finally {
    // None may ask for anything when the transaction has ended.
    await Promise.allSettled([...prefetched.values()].map(({ changeSet }) => changeSet));
  }
  for (const table of bridgeTables)
    await loadBridges(executor, schema, table, group, (answer, rows) => wrote(answer, table.name, rows));
  await executor.drain();
  return receipts.map((it) => it.build());
}

/**
 * Rows are found by their keys. Left to itself, the planner reads tables of up to some hundred thousand rows whole, see
 * `lookedUp`; what is held, written or deleted can't be fenced as what is read is. All four, or it would compare each
 * key with each row of a small table.
 */
const BY_INDEX = `select ${['hashjoin', 'mergejoin', 'material', 'seqscan']
  .map((plan) => `set_config('enable_${plan}', 'off', true)`)
  .join(', ')}`;

/** What the answers show of a table's entities, and what becomes of these. */
interface PrefetchedTable {
  readonly seen: ReadonlyMap<string, readonly Observation[]>;
  readonly changeSet: Promise<ChangeSet>;
}

/**
 * Has tables looked at before their turn, so that the database reads while what was found is judged, and one drafted after
 * the other, which goes on while rows of those before are written. Not one with rows of owners: it is looked at when they
 * are held.
 */
function prefetchTables(
  targets: readonly MergeTarget[],
  group: readonly LoadItem[],
): ReadonlyMap<RootTable, PrefetchedTable> {
  const looks = targets
    .filter(({ table }) => !group.some(({ batch }) => batch.owner?.table === table.name))
    .map((target) => lookUp(target, observationsOf(target.table, group, new Set())))
    .filter(({ ids }) => ids.length > 0);
  let before: Promise<unknown> | undefined;
  return new Map(
    looks.map((look) => {
      const { target, seen } = look;
      const { yieldToEventLoop } = target.executor;
      const draft = buildWhenReady(look, before && { turn: before, pause: yieldToEventLoop });
      before = draft.then(async ({ lists }) => {
        await yieldToEventLoop();
        lists();
      });
      // A table before it may fail first.
      before.catch(() => undefined);
      return [target.table, { seen, changeSet: draft }];
    }),
  );
}

interface StoredLookup {
  readonly target: MergeTarget;
  readonly seen: PrefetchedTable['seen'];
  /** In key order. */
  readonly ids: readonly string[];
  readonly stored: Promise<StoredRows>;
}

function lookUp(target: MergeTarget, seen: PrefetchedTable['seen']): StoredLookup {
  const ids = [...seen.keys()].toSorted();
  const resting = readStoredFor(target, ids, seen);
  // It fails where it is waited for.
  resting.catch(() => undefined);
  return { target, seen, ids, stored: resting };
}

/** Drafts a table; behind another one it waits for its turn, and lets the load go on between its parts. */
async function buildWhenReady(
  { target, seen, ids, stored: resting }: StoredLookup,
  behind?: { readonly turn: Promise<unknown>; readonly pause: () => Promise<unknown> },
): Promise<ChangeSet> {
  await behind?.turn;
  return buildChangeSet(target, ids, seen, await resting, behind?.pause);
}

async function loadTable(
  target: MergeTarget,
  group: readonly LoadItem[],
  receipts: readonly ReceiptBuilder[],
  prefetched: PrefetchedTable | undefined,
): Promise<void> {
  const { executor, schema, table, contexts } = target;
  const sets = ownedSets(executor, schema, table, group);
  const late = await sets.late();
  for (const answer of late) receipts[answer]?.addSuperseded(itemsIn(table, group[answer]));
  const goneOf = (): Promise<readonly DeletedRow[]> => sets.deletedRows(late);
  const { seen, changeSet } = prefetched ?? buildNow(target, observationsOf(table, group, late));
  const { results, deleted } = await writeTable(target, seen, await changeSet, goneOf);
  const added = new Set(results.filter(({ stored }) => !stored).map(({ id }) => id));
  await writeDailyRows(executor, schema, table, contexts, seen, added);
  for (const { steps } of results)
    for (const { answer, items, change, lists } of steps) {
      const book = receipts[answer];
      book?.addItems(change, items);
      if (change === 'unchanged' || change === 'superseded') continue;
      book?.addWritten(table.name, 1);
      for (const [index, rows] of lists) book?.addWritten(table.children[index]?.name ?? '', rows.length);
    }
  for (const { answer } of deleted) receipts[answer]?.addWritten(table.name, 1);
}

const buildNow = (target: MergeTarget, seen: PrefetchedTable['seen']): PrefetchedTable => ({
  seen,
  changeSet: buildWhenReady(lookUp(target, seen)),
});

const itemsIn = (table: RootTable, loading: LoadItem | undefined): number =>
  (loading?.batch.roots.get(table.name) ?? []).filter(({ item }) => item !== undefined).length;

/** What the answers show of each entity, in their order; those that are late show nothing. */
function observationsOf(
  table: RootTable,
  group: readonly LoadItem[],
  late: ReadonlySet<number>,
): ReadonlyMap<string, readonly Observation[]> {
  const seen = new Map<string, Observation[]>();
  for (const [answer, { batch }] of group.entries()) {
    if (late.has(answer)) continue;
    for (const row of batch.roots.get(table.name) ?? []) {
      const items = row.item === undefined ? 0 : 1;
      const sightings = seen.get(row.id);
      const last = sightings?.at(-1);
      if (last?.answer === answer) {
        last.rows.push(row);
        last.items += items;
      } else if (sightings) sightings.push({ answer, rows: [row], items });
      else seen.set(row.id, [{ answer, rows: [row], items }]);
    }
  }
  return seen;
}
