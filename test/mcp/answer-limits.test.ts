/** Limits of answers: what is left out, and that the answer says so. */
import { describe, expect, it } from 'vitest';
import { limitLists, limitRows } from '../../src/mcp/answer-limits.ts';

const rowsOf = (lengths: readonly number[]) => ({
  columns: ['text'],
  rows: lengths.map((length) => ({ text: 'x'.repeat(length) })),
});

describe('the rows of an answer', () => {
  it.each([
    ['as many as requested', [1, 2], 2, 2, undefined],
    ['one more than requested', [1, 2, 3], 2, 2, /^Only the first 2 rows are here, and there are more/],
    ['too long together', [60_000, 30_000, 30_000], 9, 2, /^Only the first 2 rows are here, because/],
    ['too long each', [100_001, 1], 9, 0, /^Only the first 0 rows are here, because/],
    ['none', [], 9, 0, undefined],
  ] as const)('that are %s are limited', (_, lengths, limit, shown, note) => {
    const answer = limitRows(rowsOf(lengths), limit);
    expect(answer.result).toEqual(rowsOf(lengths.slice(0, shown)));
    if (note) expect(answer.note).toMatch(note);
    else expect(answer.note).toBeUndefined();
  });
});

describe('the lists of an answer', () => {
  it('are complete if they are short', () => {
    const result = { total: 3, days: Array.from({ length: 200 }, (_, day) => day) };
    expect(limitLists(result)).toEqual({ result });
  });

  it('are cut if they are long, with a note on each', () => {
    const { result, note } = limitLists({ total: 3, runs: Array.from({ length: 201 }, (_, run) => run), days: [1] });
    expect(result).toEqual({ total: 3, runs: Array.from({ length: 200 }, (_, run) => run), days: [1] });
    expect(note).toBe('Only the first 200 elements are here of: runs (of 201). Use query for the others.');
  });
});
