/** How far syncs have read: the log up to an instant, a window up to a day. */
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** Reads a watermark; undefined if it does not exist. */
export async function readWatermark(ops: Ops, sync: string, name: string): Promise<string | undefined> {
  const row = await ops
    .selectFrom('marks')
    .select('value')
    .where('sync', '=', sync)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.value;
}

/** Reads all watermarks of a sync, by name. */
export async function readWatermarks(ops: Ops, sync: string): Promise<ReadonlyMap<string, string>> {
  const rows = await ops.selectFrom('marks').select(['name', 'value']).where('sync', '=', sync).execute();
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Sets a watermark. */
export async function writeWatermark(ops: Ops, sync: string, name: string, value: string, at: Date): Promise<void> {
  const updated_at = at.toISOString();
  await ops
    .insertInto('marks')
    .values({ sync, name, value, updated_at })
    .onConflict((conflict) => conflict.columns(['sync', 'name']).doUpdateSet({ value, updated_at }))
    .execute();
}
