/** Batches in, receipts out: writes the rows of many answers inside the caller's transaction, a set of statements a table. */
import { bridgeTables, rootTables } from '../warehouse/schema/tables.ts';
import type { RootTable } from '../warehouse/schema/table-types.ts';
import { type Books, type Loading, openBooks } from './merge/receipts.ts';
import { loadBridges } from './sets/bridges.ts';
import { writeDays } from './history/daily.ts';
import { type Draft, draftOf } from './merge/changeset.ts';
import type { Sighting } from './merge/merge.ts';
import { lookAt, type Target } from './merge/compare.ts';
import { ownedSets } from './sets/owned-sets.ts';
import type { Receipt } from './merge/receipt.ts';
import type { Resting } from './merge/stored-rows.ts';
import { type Gone, loadRoot } from './write-table.ts';
import type { Run } from './sql/executor.ts';

/**
 * Writes all rows of the answers of a group, what others refer to first, and returns a receipt for each. Rows and
 * receipts are those that loading one answer after the other would give; `openGroup` says which answers may be loaded
 * together. What did not change is not written; what a newer answer said is not overwritten. Throws a TransientError
 * when other writers get in between too often; the database's own errors pass through, and nothing is then committed.
 */
export async function load(run: Run, schema: string, group: readonly Loading[]): Promise<Receipt[]> {
  const books = group.map(({ batch }) => openBooks(batch));
  const wrote = (answer: number, table: string, rows: number): void => books[answer]?.wrote(table, rows);
  await run.write(BY_INDEX, []);
  const contexts = group.map(({ context }) => context);
  const targets = rootTables
    .filter(({ name }) => group.some(({ batch }) => batch.roots.has(name) || batch.owner?.table === name))
    .map((table): Target => ({ run, schema, table, contexts }));
  const ahead = draftAhead(targets, group);
  try {
    for (const target of targets) await loadTable(target, group, books, ahead.get(target.table));
  } finally {
    // None may ask for anything when the transaction has ended.
    await Promise.allSettled([...ahead.values()].map(({ draft }) => draft));
  }
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

/** What the answers show of a table's entities, and what becomes of these. */
interface Ahead {
  readonly seen: ReadonlyMap<string, readonly Sighting[]>;
  readonly draft: Promise<Draft>;
}

/**
 * Has tables looked at before their turn, so that the database reads while what was found is judged, and one drafted after
 * the other, which goes on while rows of those before are written. Not one with rows of owners: it is looked at when they
 * are held.
 */
function draftAhead(targets: readonly Target[], group: readonly Loading[]): ReadonlyMap<RootTable, Ahead> {
  const looks = targets
    .filter(({ table }) => !group.some(({ batch }) => batch.owner?.table === table.name))
    .map((target) => lookedAt(target, sightingsOf(target.table, group, new Set())))
    .filter(({ ids }) => ids.length > 0);
  let before: Promise<unknown> | undefined;
  return new Map(
    looks.map((look) => {
      const { target, seen } = look;
      const { sent } = target.run;
      const draft = drafted(look, before && { turn: before, pause: sent });
      before = draft.then(async ({ lists }) => {
        await sent();
        lists();
      });
      // A table before it may fail first.
      before.catch(() => undefined);
      return [target.table, { seen, draft }];
    }),
  );
}

interface Look {
  readonly target: Target;
  readonly seen: Ahead['seen'];
  /** In key order. */
  readonly ids: readonly string[];
  readonly resting: Promise<Resting>;
}

function lookedAt(target: Target, seen: Ahead['seen']): Look {
  const ids = [...seen.keys()].toSorted();
  const resting = lookAt(target, ids, seen);
  // It fails where it is waited for.
  resting.catch(() => undefined);
  return { target, seen, ids, resting };
}

/** Drafts a table; behind another one it waits for its turn, and lets the load go on between its parts. */
async function drafted(
  { target, seen, ids, resting }: Look,
  behind?: { readonly turn: Promise<unknown>; readonly pause: () => Promise<unknown> },
): Promise<Draft> {
  await behind?.turn;
  return draftOf(target, ids, seen, await resting, behind?.pause);
}

async function loadTable(
  target: Target,
  group: readonly Loading[],
  books: readonly Books[],
  ahead: Ahead | undefined,
): Promise<void> {
  const { run, schema, table, contexts } = target;
  const sets = ownedSets(run, schema, table, group);
  const late = await sets.late();
  for (const answer of late) books[answer]?.superseded(itemsIn(table, group[answer]));
  const goneOf = (): Promise<readonly Gone[]> => sets.goneBut(late);
  const { seen, draft } = ahead ?? draftNow(target, sightingsOf(table, group, late));
  const { fates, deleted } = await loadRoot(target, seen, await draft, goneOf);
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

const draftNow = (target: Target, seen: Ahead['seen']): Ahead => ({ seen, draft: drafted(lookedAt(target, seen)) });

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
