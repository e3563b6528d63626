/** What people read of slices that are lower bounds. */
import { expect, it } from 'vitest';
import { lowerBoundLines } from '../../src/cli/text/listed-lines.ts';

const bound = (day: number, filters: unknown = { date_from: `2024-01-0${day}` }) => ({
  sync: 'filings',
  filters,
  returned: 1100,
  reason: 'as many items as asked for',
});

it('the text of lower bounds has a line for each of at most five, and the number of the rest', () => {
  expect(lowerBoundLines([], 0)).toEqual([]);
  expect(lowerBoundLines([bound(1)], 1)).toEqual([
    'lower bound: filings {"date_from":"2024-01-01"}: 1,100 returned, as many items as asked for\n',
  ]);
  const many = lowerBoundLines(
    [1, 2, 3, 4, 5, 6, 7].map((day) => bound(day)),
    40,
  );
  expect(many).toHaveLength(6);
  expect(many.at(-1)).toBe('and 35 more lower bounds\n');
});

it('the text of lower bounds omits filters that were not set', () => {
  const filters = { date_from: '2024-01-01', title: '', cik: null, filing_types: [], exact: false };
  expect(lowerBoundLines([bound(1, filters)], 1)).toEqual([
    'lower bound: filings {"date_from":"2024-01-01","exact":false}: 1,100 returned, as many items as asked for\n',
  ]);
});

it('the text of lower bounds is cut where filters are long, and is harmless to a terminal', () => {
  const [line = ''] = lowerBoundLines([bound(1, { title: `\u001b[31m${'x'.repeat(500)}` })], 1);
  expect(line.length).toBeLessThan(220);
  expect(line).not.toContain('\u001b');
});
