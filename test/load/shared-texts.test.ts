/** Rows that share a text with a great many others join them as quickly as the first, and a text may be of any length. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { filing, urn } from './items.ts';

/** As many as 30 pages of an index hold. */
const THERE = 12_000;
const ADDED = 100;

const SHARED = [
  { table: 'sec_filing_ciks', counted: 'position' },
  { table: 'pronet_posts', counted: 'urn_value' },
] as const;

async function loadBoth(warehouse: Warehouse, cik: string): Promise<void> {
  const filings = [filing('0000000000-26-000001', 'a.htm', { ciks: [cik] })];
  await loadBatch(warehouse, batchOf('sec.search.companies', { entity_name: 'x', count: 100 }, filings), 1);
  const request = { urn: { type: 'activity', value: '1' }, count: 10 };
  const author = { '@type': 'pronet_user', urn: urn('a'), name: 'n', alias: 'a', url: 'u' };
  const posts = [{ urn: urn('2', 'activity'), url: 'u', author }];
  await loadBatch(warehouse, batchOf('pronet.post.reposts', request, posts), 2);
}

/** Adds copies of the only row, distinguished by one column; returns how many pages were touched for each. */
async function pagesFor(warehouse: Warehouse, table: string, counted: string, from: number, to: number) {
  const at = sql.table(`${warehouse.schema}.${table}`);
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>`
    explain (analyze, buffers, format json) insert into ${at}
    select (jsonb_populate_record(t, jsonb_build_object(${sql.lit(counted)}, g::text))).*
    from ${at} t, generate_series(${sql.lit(from)}::int, ${sql.lit(to)}::int) g
    where t.ctid = (select ctid from ${at} limit 1)`.execute(warehouse.db);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
  return ((plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? 0)) / (to - from + 1);
}

anyWarehouse('texts that many rows share', (open) => {
  it.each(SHARED)('are joined by further rows of $table without reading those there', async ({ table, counted }) => {
    const warehouse = await open();
    await loadBoth(warehouse, '0000320193');
    await pagesFor(warehouse, table, counted, 1000, 1000 + THERE);
    const pages = await pagesFor(warehouse, table, counted, 100_000, 100_000 + ADDED);
    expect(pages).toBeGreaterThan(1);
    expect(pages).toBeLessThan(20);
  });

  it('are of any length', async () => {
    const warehouse = await open();
    // Of different characters, so that compression does not fit it into a page.
    const long = Array.from({ length: 40_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
      '',
    );
    await loadBoth(warehouse, long);
    const { rows } = await sql<{ size: string }>`select octet_length(cik)::text as size
      from ${sql.table(`${warehouse.schema}.sec_filing_ciks`)} where cik = ${long}`.execute(warehouse.db);
    expect(rows).toEqual([{ size: '120000' }]);
  });
});
