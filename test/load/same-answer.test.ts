/** One stored answer that two syncs load at the same moment: one of them inserts its rows, the other finds them unchanged. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { batchOf, contextOf, loadBatch, loaderOf } from '../support/loading.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { stopping } from './blocked.ts';

const open = postgresWarehouses();

const filingsOf = (company: string, filings: number) =>
  batchOf(
    'sec.search.companies',
    { entity_name: company, count: 99 },
    Array.from({ length: filings }, (_, at) => ({
      accession_number: `${company} ${at}`,
      file_name: 'f',
      document_url: 'u',
      ciks: ['1', '2'],
    })),
  );

/**
 * A load of the answers 1 and 2 that waits before its first insert until another load has committed answer 1. The
 * transaction of the first load is open; `before` runs in it.
 */
async function secondToLoad(filings: number, before?: string) {
  const warehouse = await open();
  const held = await warehouse.db.startTransaction().execute();
  if (before !== undefined) await sql.raw(before).execute(held);
  const inserting = stopping(sqlExecutorOn<OperationsTables>(held, warehouse.schema), (statement) =>
    statement.startsWith('insert '),
  );
  const loading = load(inserting.run, [
    { batch: filingsOf('a', filings), context: contextOf(1) },
    { batch: filingsOf('b', filings), context: contextOf(2) },
  ]);
  await inserting.reached;
  await loadBatch(warehouse, filingsOf('a', filings), 1);
  inserting.letGo();
  return { warehouse, held, loading };
}

// The rows of the larger answers are copied.
it.each([3, 30])('%i rows that the other load inserted are unchanged, and the rest has its lists', async (filings) => {
  const { warehouse, held, loading } = await secondToLoad(filings);
  expect(await loading).toMatchObject([
    { received: filings, loaded: 0, unchanged: filings },
    { received: filings, loaded: filings, unchanged: 0 },
  ]);
  await held.commit().execute();
  const { rows } = loaderOf(warehouse);
  const filed = await rows('sec_filings');
  expect(filed.map((row) => [String(row['accession_number']).slice(0, 1), row['_answer_id']])).toEqual([
    ...Array.from({ length: filings }, () => ['a', '1']),
    ...Array.from({ length: filings }, () => ['b', '2']),
  ]);
  const ciks = await rows('sec_filing_ciks');
  expect(Map.groupBy(ciks, (row) => String(row['filing_accession_number'])).size).toBe(2 * filings);
  expect(ciks).toHaveLength(4 * filings);
});

it('a load that cannot distinguish its own rows from those of the other load ends, and loses no list', async () => {
  const { held, loading } = await secondToLoad(3, 'savepoint outer_one');
  await expect(loading).rejects.toThrow('other writers inserted rows of sec_filings, and it is not known which');
  await held.rollback().execute();
});
