/** Invariant 6: a row that an answer does not change is not written. */
import { expect, it } from 'vitest';
import { loaderOf } from '../support/loading.ts';
import { anyWarehouse } from '../support/warehouse.ts';

anyWarehouse('an unchanged row', (open) => {
  it('keeps its xmin, and so do the rows of its lists, beside a row that changes', async () => {
    const { take, versions } = loaderOf(await open());
    const filing = (file_name: string, filing_type: string) => ({
      accession_number: '1',
      file_name,
      document_url: 'https://example.com',
      filing_type,
      ciks: ['1', '2'],
    });
    await take('sec.search.companies', { count: 99 }, [filing('a', '10-K'), filing('b', '10-K')]);
    const before = await versions();

    const same = await take('sec.search.companies', { count: 99 }, [filing('a', '10-K'), filing('b', '10-K')]);
    expect(same.receipt).toMatchObject({ unchanged: 2, loaded: 0, written: {} });
    expect(await versions()).toEqual(before);

    const other = await take('sec.search.companies', { count: 99 }, [filing('a', '10-K'), filing('b', '10-Q')]);
    expect(other.receipt).toMatchObject({ unchanged: 1, loaded: 1 });
    const after = new Set(await versions());
    const written = before.filter((version) => !after.has(version));
    expect(written.map((version) => version.split(' ')[0])).toEqual(['sec_filings']);
  });
});
