/** The expected cost of a request, from the item counts of similar answers. Pure. */
import { expectedPointsOf, maxPointsOf, nearest, type PriceBook, type ReturnedCount } from './price-book.ts';
import { averageOf } from './price-model.ts';

/** The expected cost of one request with this count. */
export interface ExpectedSize {
  readonly mean: number;
  readonly variance: number;
  readonly least: number;
  /** The number of answers behind the estimate. If it is 0, the answer may have as many items as requested. */
  readonly answers: number;
}

/** The expected cost, from the item counts of earlier answers. */
export function expectedSizeOf(book: PriceBook, asked: number | undefined): ExpectedSize {
  const counts = usualCounts(book, asked);
  const answers = counts.reduce((sum, { times }) => sum + times, 0);
  if (answers === 0) {
    const most = maxPointsOf(book, asked);
    return { mean: most, variance: 0, least: Math.min(most, expectedPointsOf(book, { asked, returned: 0 })), answers };
  }
  const costs = counts.map((it) => ({ value: expectedPointsOf(book, it), times: it.times * (1 - book.missingShare) }));
  if (book.missingShare > 0)
    costs.push({
      value: expectedPointsOf(book, { asked, returned: 0, outcome: 'missing' }),
      times: answers * book.missingShare,
    });
  const mean = averageOf(costs);
  const around = averageOf(costs.map(({ value, times }) => ({ value: (value - mean) ** 2, times })));
  const variance = around + (mean * book.deviation) ** 2;
  return { mean, variance, least: Math.min(...costs.map(({ value }) => value)), answers };
}

/** The item counts of answers to such requests: of this sync, or of all syncs if this one has none. */
function usualCounts({ recentCounts, levels }: PriceBook, asked: number | undefined): ReturnedCount[] {
  const seen = recentCounts.length > 0 ? recentCounts : levels.map((it) => ({ ...it, times: it.samples }));
  if (asked === undefined) return seen.map((it) => ({ ...it, asked }));
  const matched = seen.filter((it) => it.asked !== undefined && it.asked > 0);
  const alike = nearest(matched, (it) => Math.abs(Math.log((it.asked ?? 1) / Math.max(1, asked))));
  return (alike.length > 0 ? alike : seen).flatMap(({ asked: before, returned, times }) => {
    if (returned === undefined) return [];
    // A full answer could have had more items.
    const full = before !== undefined && returned >= before;
    return { asked, returned: full ? asked : Math.min(returned, asked), times };
  });
}
