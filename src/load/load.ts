/** Batches in, receipts out: writes the rows of many answers inside the caller's transaction, a set of statements a table. */
import { bridgeTables, type RootTable, rootTables } from '../warehouse/table.ts';
import { type Books, type Loading, openBooks } from './answer.ts';
import { loadBridges } from './bridge.ts';
import { writeDays } from './daily.ts';
import type { Sighting } from './fold.ts';
import { ownedSets } from './owned.ts';
import type { Receipt } from './receipt.ts';
import type { Resting } from './resting.ts';
import { type Gone, loadRoot, lookAt } from './root.ts';
import type { Run } from './run.ts';

/**
 * Writes all rows of the answers of a group, what others refer to first, and returns a receipt for each. Rows and
 * receipts are those that loading one answer after the other would give; `groupsOf` says which answers may be loaded
 * together. What did not change is not written; what a newer answer said is not overwritten. Throws a TransientError
 * when other writers get in between too often; the database's own errors pass through, and nothing is then committed.
 */
export async function load(run: Run, schema: string, group: readonly Loading[]): Promise<Receipt[]> {
  const books = group.map(({ batch }) => openBooks(batch));
  const wrote = (answer: number, table: string, rows: number): void => books[answer]?.wrote(table, rows);
  await run.write(BY_INDEX, []);
  const looks = new Map(rootTables.flatMap((table) => lookAhead(run, schema, table, group)));
  for (const table of rootTables)
    if (group.some(({ batch }) => batch.roots.has(table.name) || batch.owner?.table === table.name))
      await loadTable(run, schema, table, group, books, looks.get(table));
  for (const table of bridgeTables)
    await loadBridges(run, schema, table, group, (answer, rows) => wrote(answer, table.name, rows));
  await run.settled();
  return books.map((it) => it.receipt());
}

/**
 * Rows are found by their keys. Left to itself, the planner reads tables of up to some hundred thousand rows whole, see
 * `lookedUp`; what is held, written or deleted can't be fenced as what is read is. All four, or it would compare each
 * key with each row of a small table.
 */
const BY_INDEX = `select ${['hashjoin', 'mergejoin', 'material', 'seqscan']
  .map((plan) => `set_config('enable_${plan}', 'off', true)`)
  .join(', ')}`;

/** What the answers show of a table's entities, and what rests of these. */
interface Look {
  readonly seen: ReadonlyMap<string, readonly Sighting[]>;
  readonly resting: Promise<Resting>;
}

/**
 * Has a table looked at before its turn, so that the database reads while what rests in the tables before is judged.
 * Not one with rows of owners: it is looked at when they are held.
 */
function lookAhead(run: Run, schema: string, table: RootTable, group: readonly Loading[]): [RootTable, Look][] {
  if (group.some(({ batch }) => batch.owner?.table === table.name)) return [];
  const seen = sightingsOf(table, group, new Set());
  if (seen.size === 0) return [];
  const resting = lookAt({ run, schema, table }, [...seen.keys()], seen);
  // A table before it may fail first.
  resting.catch(() => undefined);
  return [[table, { seen, resting }]];
}

async function loadTable(
  run: Run,
  schema: string,
  table: RootTable,
  group: readonly Loading[],
  books: readonly Books[],
  look: Look | undefined,
): Promise<void> {
  const contexts = group.map(({ context }) => context);
  const sets = ownedSets(run, schema, table, group);
  const late = await sets.late();
  for (const answer of late) books[answer]?.superseded(itemsIn(table, group[answer]));
  const seen = look?.seen ?? sightingsOf(table, group, late);
  const goneOf = (): Promise<readonly Gone[]> => sets.goneBut(late);
  const { fates, deleted } = await loadRoot({ run, schema, table, contexts }, seen, goneOf, look?.resting);
  const added = new Set(fates.filter(({ resting }) => !resting).map(({ id }) => id));
  await writeDays(run, schema, table, contexts, seen, added);
  for (const { steps } of fates)
    for (const { answer, items, verdict, lists } of steps) {
      const book = books[answer];
      book?.judged(verdict, items);
      if (verdict === 'unchanged' || verdict === 'superseded') continue;
      book?.wrote(table.name, 1);
      for (const [index, rows] of lists) book?.wrote(table.children[index]?.name ?? '', rows.length);
    }
  for (const { answer } of deleted) books[answer]?.wrote(table.name, 1);
}

const itemsIn = (table: RootTable, loading: Loading | undefined): number =>
  (loading?.batch.roots.get(table.name) ?? []).filter(({ item }) => item !== undefined).length;

/** What the answers show of each entity, in their order; those that are late show nothing. */
function sightingsOf(
  table: RootTable,
  group: readonly Loading[],
  late: ReadonlySet<number>,
): ReadonlyMap<string, readonly Sighting[]> {
  const seen = new Map<string, Sighting[]>();
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
