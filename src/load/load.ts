/** One batch in, one receipt out: writes the rows of an answer inside the caller's transaction. */
import type { Batch } from '../normalize/batch.ts';
import { rootTables } from '../warehouse/table.ts';
import { loadBridge, ownerIsNewer, trimOwned } from './owned.ts';
import type { Receipt } from './receipt.ts';
import { type LoadContext, loadRoot, type Verdict } from './root.ts';
import type { Run } from './run.ts';

/**
 * Writes all rows of one answer, what others refer to first, and counts what became of its items. What did not change
 * is not written; what a newer answer said is not overwritten. Throws a TransientError when other writers get in
 * between too often; the database's own errors pass through, and nothing is then committed.
 */
export async function load(run: Run, batch: Batch, context: LoadContext): Promise<Receipt> {
  const written: Record<string, number> = {};
  const tally = (table: string, rows: number): void => {
    if (rows > 0) written[table] = (written[table] ?? 0) + rows;
  };
  const late = await ownerIsNewer(run, batch, context);
  const counts = { loaded: 0, unchanged: 0, superseded: 0 };
  for (const table of rootTables) {
    const rows = batch.roots.get(table.name);
    if (!rows) continue;
    const positions = itemsById(rows);
    if (late && table.name === batch.owner?.table) {
      counts.superseded += [...positions.values()].reduce((sum, items) => sum + items, 0);
      continue;
    }
    const verdicts = await loadRoot(run, table, rows, context, tally);
    for (const [id, items] of positions) {
      // The same key again later in the answer: the last one counts.
      counts.superseded += items - 1;
      counts[OUTCOME[verdicts.get(id) ?? 'unchanged']] += 1;
    }
  }
  if (!late) await trimOwned(run, batch, context, tally);
  await loadBridge(run, batch, context, tally);
  return { received: batch.received, ...counts, quarantined: batch.rejects.length, written };
}

const OUTCOME: Record<Verdict, 'loaded' | 'unchanged' | 'superseded'> = {
  inserted: 'loaded',
  changed: 'loaded',
  refreshed: 'unchanged',
  unchanged: 'unchanged',
  superseded: 'superseded',
};

/** How many top-level items each entity is. */
function itemsById(rows: readonly { readonly id: string; readonly item?: number }[]): Map<string, number> {
  const items = new Map<string, number>();
  for (const { id, item } of rows) if (item !== undefined) items.set(id, (items.get(id) ?? 0) + 1);
  return items;
}
