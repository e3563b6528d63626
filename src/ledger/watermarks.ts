/** How far syncs have read: the log up to an instant, a window up to a day. */
import type { Ops } from '../warehouse/connect/operations-db.ts';
import { insertion } from '../warehouse/sql/rows-from.ts';

/** The watermarks of a sync and the times of their resets, by name. */
export type Watermarks = ReadonlyMap<string, string>;

/** The name under which the time of the last reset of a watermark is recorded, RFC 3339. */
export const resetName = (name: string): string => `${RESET}${name}`;

/** True for the name of a reset. */
export const isReset = (name: string): boolean => name.startsWith(RESET);

const RESET = 'reset:';

/** Reads all watermarks of a sync, by name. */
export async function readWatermarks(ops: Ops, sync: string): Promise<Watermarks> {
  const rows = await ops.selectFrom('marks').select(['name', 'value']).where('sync', '=', sync).execute();
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Sets a watermark. */
export const writeWatermark = (ops: Ops, sync: string, name: string, value: string, at: Date): Promise<void> =>
  writeWatermarks(ops, sync, new Map([[name, value]]), at);

/** Sets watermarks of a sync, by name. */
export async function writeWatermarks(ops: Ops, sync: string, values: Watermarks, at: Date): Promise<void> {
  if (values.size === 0) return;
  const { columns, rows } = insertion([...values], {
    sync: ['text', () => sync],
    name: ['text', ([name]) => name],
    value: ['text', ([, value]) => value],
    updated_at: ['timestamptz', () => at],
  });
  await ops
    .insertInto('marks')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['sync', 'name'])
        .doUpdateSet((eb) => ({ value: eb.ref('excluded.value'), updated_at: eb.ref('excluded.updated_at') })),
    )
    .execute();
}

/** Removes a watermark, so that the next run reads from the beginning. */
export async function removeWatermark(ops: Ops, sync: string, name: string): Promise<void> {
  await ops.deleteFrom('marks').where('sync', '=', sync).where('name', '=', name).execute();
}
