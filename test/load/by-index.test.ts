/** A load finds the rows that it changes by their keys, also in tables that the planner would otherwise scan. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { withStatementSpy } from '../flow/statement-spy.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { filing } from './items.ts';

/** Rows of a table, and how many of them a load changes. */
const SIZES = [
  [60, 60],
  [700, 600],
  [4000, 800],
] as const;

/** Scans of tables, but for those that look up keys. */
const otherScans = (plan: string): string[] => {
  const lines = plan.split('\n');
  return lines.filter((line, at) => /Scan .*\bon sec_/.test(line) && !lines[at + 1]?.includes('Cond: '));
};

/** Loads filings whose description and one list contain the version. */
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
  it.each(SIZES)('finds what it changes by key: among %d rows %d', async (size, changed) => {
    const warehouse = await open();
    await loadFilings(warehouse, 1, size);
    await sql`analyze`.execute(warehouse.db);
    const plans = new Map<string, string>();
    const listening = withStatementSpy(warehouse, {
      statement: async (text, work, explain) => {
        if (/^(update|delete|select row_to_json)/.test(text)) plans.set(text, await explain());
        return work();
      },
    });
    await loadFilings(listening, 2, changed);
    const texts = [...plans.keys()];
    for (const part of ['update', 'delete', 'for no key update'])
      expect(texts.some((text) => text.includes(part))).toBe(true);
    expect([...plans.values()].filter((plan) => otherScans(plan).length > 0)).toEqual([]);
  });
});
