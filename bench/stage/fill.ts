/** Fills tables with many rows: loads a sample of filings and multiplies it inside the database. */
import type { Client } from 'pg';
import type { Batch } from '../../src/normalize/batch.ts';
import { quoted } from '../../src/warehouse/sql/identifiers.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';
import { batchOf, loadAll, SCHEMA, warehouseAt } from './batches.ts';
import { connected } from './postgres.ts';
import type { Workload } from './workload.ts';

/** The row of each filing and one of its lists. With all lists, the largest table would take an hour. */
const FILLED = ['sec_filings', 'sec_filing_ciks'];
const LISTS_LEFT_OUT = ['display_names', 'biz_locations', 'biz_states', 'inc_states', 'sics', 'items'];

type Item = Readonly<Record<string, unknown>>;

/** Batches of a workload of filings, with a prefix for the accession number of each item. */
export const filingBatches = (workload: Workload, prefixOf: (item: number) => string, version = ''): Batch[] =>
  Array.from({ length: workload.answers }, (_, index) => {
    const items = workload.items(index).map((item, at): Item => {
      const kept = Object.fromEntries(Object.entries(item).filter(([name]) => !LISTS_LEFT_OUT.includes(name)));
      const accession = `${prefixOf(index * 1_000 + at)}-${String(item['accession_number'])}`;
      return {
        ...kept,
        accession_number: accession,
        file_description: `${String(item['file_description'])}${version}`,
      };
    });
    return batchOf(workload.endpoint, { ...workload.request, [workload.field]: workload.input(index) }, items);
  });

/** The prefix of the accession numbers in the n-th copy of the sample. */
export const prefixOfCopy = (copy: number): string => String(copy).padStart(7, '0');

/** Fills the database with about so many filings; returns the number of copies of the sample. */
export async function fill(url: string, sample: Workload, rows: number): Promise<number> {
  const batches = filingBatches(sample, () => prefixOfCopy(0));
  const warehouse = await warehouseAt(url);
  await loadAll(warehouse, batches, 1);
  await warehouse.close();
  const inSample = batches.reduce((sum, { received }) => sum + received, 0);
  const copies = Math.max(0, Math.round(rows / inSample) - 1);
  await connected(url, async (client) => {
    // No checks of foreign keys: the rows of the sample passed them.
    await client.query(`set session_replication_role = replica`);
    for (const table of tables.filter(({ name }) => FILLED.includes(name))) {
      const indexes = await indexesOf(client, table);
      for (const { name } of indexes) await client.query(`drop index ${quoted(SCHEMA)}.${quoted(name)}`);
      await multiply(client, table, copies);
      for (const { statement } of indexes) await client.query(statement);
      await client.query(`vacuum (analyze) ${quoted(SCHEMA)}.${quoted(table.name)}`);
    }
    await client.query('checkpoint');
  });
  return copies + 1;
}

/** The indexes without a constraint. Creating them after the copies costs a fraction of updating them for each row. */
async function indexesOf(
  client: Client,
  table: Table,
): Promise<{ readonly name: string; readonly statement: string }[]> {
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as statement
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1::regclass and not exists (select from pg_constraint where conindid = i.indexrelid)`,
    [`${quoted(SCHEMA)}.${quoted(table.name)}`],
  );
  return rows;
}

/** Adds so many copies of the rows of the table. */
async function multiply(client: Client, table: Table, copies: number): Promise<void> {
  const target = `${quoted(SCHEMA)}.${quoted(table.name)}`;
  // A table of its own, because each copy would otherwise read all rows that were added before.
  await client.query(`create temporary table sample as select * from ${target}`);
  const columns = table.columns.map(({ name }) => name);
  const isAccession = (name: string): boolean => /(^|_)accession_number$/.test(name);
  const values = columns.map((name) =>
    isAccession(name) ? `lpad(g::text, 7, '0') || substr(s.${quoted(name)}, 8)` : `s.${quoted(name)}`,
  );
  await client.query(`insert into ${target} (${columns.map(quoted).join(', ')})
    select ${values.join(', ')} from generate_series(1, ${copies}) g,
      lateral (select * from sample where g > 0 order by ${table.key.map(quoted).join(', ')}) s`);
  await client.query('drop table sample');
}
