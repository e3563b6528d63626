/** A load finds the rows that it changes by their keys, also in tables that the planner would rather read whole. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect.ts';
import { overheard } from '../flow/overheard.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { filing } from './items.ts';

const FILINGS = 4000;
const CHANGED = 800;

/** Loads filings whose description and one list tell the version. */
async function loadFilings(warehouse: Warehouse, answerId: number, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) =>
    filing(`0000000000-26-${String(at).padStart(6, '0')}`, 'a.htm', {
      file_description: `version ${answerId}`,
      sics: [`${answerId}`],
    }),
  );
  await loadBatch(warehouse, batchOf('sec.search.companies', { entity_name: 'x', count: 100 }, items), answerId);
}

eachWarehouse('a load', (open) => {
  it('reads no table whole to change some of its rows', async () => {
    const warehouse = await open();
    await loadFilings(warehouse, 1, FILINGS);
    await sql`analyze`.execute(warehouse.db);
    const plans = new Map<string, string>();
    const listening = overheard(warehouse, {
      statement: async (text, work, explain) => {
        if (/^(update|delete|select row_to_json)/.test(text)) plans.set(text, await explain());
        return work();
      },
    });
    await loadFilings(listening, 2, CHANGED);
    const all = [...plans];
    expect(all.some(([text]) => text.startsWith('update'))).toBe(true);
    expect(all.some(([text]) => text.startsWith('delete'))).toBe(true);
    expect(all.some(([text]) => text.includes('for no key update'))).toBe(true);
    expect(all.filter(([, plan]) => /Seq Scan on sec_/.test(plan)).map(([text, plan]) => `${text}\n${plan}`)).toEqual(
      [],
    );
  });
});
