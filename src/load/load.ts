/**
 * Loads batches and returns receipts: writes the rows of many answers in the caller's transaction, with a few
 * statements per table.
 */
import { bridgeTables, rootTables } from '../warehouse/schema/tables.ts';
import type { RootTable } from '../warehouse/schema/table-types.ts';
import { type ReceiptBuilder, type LoadItem, openReceiptBuilder } from './merge/receipt-builder.ts';
import { loadBridges } from './sets/bridges.ts';
import { writeDailyRows } from './history/daily.ts';
import { type ChangeSet, buildChangeSet, readStoredFor, type MergeTarget } from './merge/changeset.ts';
import type { MergeStep, Observation } from './merge/merge.ts';
import { type DeletedRow, ownedSets } from './sets/owned-sets.ts';
import type { Receipt } from './merge/receipt.ts';
import type { StoredRows } from './merge/stored-rows.ts';
import { writeTable } from './write-table.ts';
import type { SqlExecutor } from './sql/executor.ts';

/**
 * Writes all rows of a group of answers, referenced tables first, and returns a receipt for each. Rows and receipts
 * equal those of loading the answers one by one; `openGroup` decides which answers may be loaded together. Unchanged
 * rows are not written, and values of newer answers are not overwritten. Throws a TransientError if other writers
 * interfere too often. Database errors are thrown unchanged, and then nothing is committed.
 */
export async function load(executor: SqlExecutor, group: readonly LoadItem[]): Promise<Receipt[]> {
  const receipts = group.map(({ batch }) => openReceiptBuilder(batch));
  const addWritten = (answer: number, table: string, rows: number): void => receipts[answer]?.addWritten(table, rows);
  await lookUpByIndex(executor);
  const contexts = group.map(({ context }) => context);
  const targets = rootTables
    .filter(({ name }) => group.some(({ batch }) => batch.roots.has(name) || batch.owner?.table === name))
    .map((table): MergeTarget => ({ executor, table, contexts }));
  const prefetched = prefetchTables(targets, group);
  try {
    for (const target of targets) await loadTable(target, group, receipts, prefetched.get(target.table));
  } finally {
    // No statement may start after the end of the transaction.
    await Promise.allSettled([...prefetched.values()].map(({ changeSet }) => changeSet));
  }
  for (const table of bridgeTables)
    await loadBridges(executor, table, group, (answer, rows) => addWritten(answer, table.name, rows));
  await executor.drain();
  return receipts.map((it) => it.build());
}

/**
 * Rows must be found by key. By default, the planner scans tables of up to some hundred thousand rows, see `lookedUp`.
 * Statements that lock, write or delete rows cannot be fenced as reads can. All four settings are needed; otherwise it
 * would compare each key with each row of a small table.
 */
const BY_INDEX = `select ${['hashjoin', 'mergejoin', 'material', 'seqscan']
  .map((plan) => `set_config('enable_${plan}', 'off', true)`)
  .join(', ')}`;

/** Makes the statements of this transaction find rows by the indexes of their keys. */
export const lookUpByIndex = (executor: SqlExecutor): Promise<void> => executor.write(BY_INDEX, []);

/** The observations of a table's entities, and the change set for them. */
interface PrefetchedTable {
  readonly observations: ReadonlyMap<string, readonly Observation[]>;
  readonly changeSet: Promise<ChangeSet>;
}

/**
 * Reads tables early, so that the database works while earlier results are compared. Change sets are built one after
 * the other, while rows of earlier tables are written. Tables with owned rows are excluded, since they must be read
 * after locking their sets.
 */
function prefetchTables(
  targets: readonly MergeTarget[],
  group: readonly LoadItem[],
): ReadonlyMap<RootTable, PrefetchedTable> {
  const lookups = targets
    .filter(({ table }) => !group.some(({ batch }) => batch.owner?.table === table.name))
    .map((target) => lookUp(target, observationsOf(target.table, group, new Set())))
    .filter(({ ids }) => ids.length > 0)
    .map((lookup) => ({ lookup, built: Promise.withResolvers<ChangeSet>() }));
  void buildInOrder(lookups);
  return new Map(
    lookups.map(({ lookup: { target, observations }, built }) => [
      target.table,
      { observations, changeSet: built.promise },
    ]),
  );
}

interface PendingBuild {
  readonly lookup: StoredLookup;
  readonly built: PromiseWithResolvers<ChangeSet>;
}

/** Builds one change set after the other, and yields to the load between their parts. An error concerns all later ones. */
async function buildInOrder(builds: readonly PendingBuild[]): Promise<void> {
  // An earlier table may fail before a promise is awaited.
  for (const { built } of builds) built.promise.catch(() => undefined);
  try {
    for (const [index, { lookup, built }] of builds.entries()) {
      const { yieldToEventLoop } = lookup.target.executor;
      const changeSet = await buildFrom(lookup, index === 0 ? undefined : yieldToEventLoop);
      built.resolve(changeSet);
      await yieldToEventLoop();
      changeSet.lists();
    }
  } catch (error) {
    for (const { built } of builds) built.reject(error);
  }
}

interface StoredLookup {
  readonly target: MergeTarget;
  readonly observations: PrefetchedTable['observations'];
  /** In key order. */
  readonly ids: readonly string[];
  readonly stored: Promise<StoredRows>;
}

function lookUp(target: MergeTarget, observations: PrefetchedTable['observations']): StoredLookup {
  const ids = [...observations.keys()].toSorted();
  const storedRows = readStoredFor(target, ids, observations);
  // The error is thrown where the promise is awaited.
  storedRows.catch(() => undefined);
  return { target, observations, ids, stored: storedRows };
}

const buildFrom = async (
  { target, observations, ids, stored }: StoredLookup,
  pause?: () => Promise<unknown>,
): Promise<ChangeSet> => buildChangeSet(target, ids, observations, await stored, pause);

async function loadTable(
  target: MergeTarget,
  group: readonly LoadItem[],
  receipts: readonly ReceiptBuilder[],
  prefetched: PrefetchedTable | undefined,
): Promise<void> {
  const { executor, table } = target;
  const sets = ownedSets(executor, table, group);
  const late = await sets.late();
  for (const answer of late) receipts[answer]?.addSuperseded(itemsIn(table, group[answer]));
  const findDeleted = (): Promise<readonly DeletedRow[]> => sets.deletedRows(late);
  const { observations, changeSet } = prefetched ?? buildNow(target, observationsOf(table, group, late));
  const { results, deleted } = await writeTable(target, observations, await changeSet, findDeleted);
  const added = new Set(results.filter(({ stored }) => !stored).map(({ id }) => id));
  await writeDailyRows(target, observations, added);
  for (const { steps } of results) for (const step of steps) countStep(table, step, receipts[step.answer]);
  for (const { answer } of deleted) receipts[answer]?.addWritten(table.name, 1);
}

function countStep(table: RootTable, { items, change, lists }: MergeStep, receipt: ReceiptBuilder | undefined): void {
  receipt?.addItems(change, items);
  if (change === 'unchanged' || change === 'superseded') return;
  receipt?.addWritten(table.name, 1);
  lists.forEach((rows, index) => {
    if (rows) receipt?.addWritten(table.children[index]?.name ?? '', rows.length);
  });
}

const buildNow = (target: MergeTarget, observations: PrefetchedTable['observations']): PrefetchedTable => ({
  observations,
  changeSet: buildFrom(lookUp(target, observations)),
});

const itemsIn = (table: RootTable, loading: LoadItem | undefined): number =>
  (loading?.batch.roots.get(table.name) ?? []).filter(({ item }) => item !== undefined).length;

/** Returns the observations of each entity, in the order of answers, without those of late answers. */
function observationsOf(
  table: RootTable,
  group: readonly LoadItem[],
  late: ReadonlySet<number>,
): ReadonlyMap<string, readonly Observation[]> {
  const observations = new Map<string, Observation[]>();
  for (const [answer, { batch }] of group.entries()) {
    if (late.has(answer)) continue;
    for (const row of batch.roots.get(table.name) ?? []) {
      const items = row.item === undefined ? 0 : 1;
      const earlier = observations.get(row.id);
      const last = earlier?.at(-1);
      if (last?.answer === answer) {
        last.rows.push(row);
        last.items += items;
      } else if (earlier) earlier.push({ answer, rows: [row], items });
      else observations.set(row.id, [{ answer, rows: [row], items }]);
    }
  }
  return observations;
}
