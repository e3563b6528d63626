/** An answer may have more rows, and more elements of a list, than a call can take arguments. */
import { expect, it } from 'vitest';
import { select } from '../flow/rows.ts';
import { loaderOf } from '../support/loading.ts';
import { postgresWarehouses } from '../support/warehouse.ts';

const open = postgresWarehouses();
const MANY = 130_000;

const many = <T>(of: (at: number) => T): T[] => Array.from({ length: MANY }, (_, at) => of(at));

it('loads 130,000 filings of one answer', async () => {
  const { take, warehouse } = loaderOf(await open());
  const filings = many((at) => ({ accession_number: `${at}`, file_name: 'f' }));
  await take('sec.search.companies', { count: 100 }, filings);
  expect(await select(warehouse, 'select count(*)::int as count from sluice.sec_filings')).toEqual([{ count: MANY }]);
});

it('logs when 130,000 elements of a list came', async () => {
  const { take, warehouse } = loaderOf(await open());
  const group = (industries: readonly object[]) => [{ urn: { type: 'group', value: '1' }, name: 'G', industries }];
  const request = { group: 'urn:li:group:1' };
  await take('pronet.group', request, group([]));
  await take('pronet.group', request, group(many((at) => ({ type: 'industry', value: `${at}` }))));
  const counts = 'select count(*)::int as count from sluice.pronet_group_industry_changes';
  expect(await select(warehouse, counts)).toEqual([{ count: MANY }]);
});
