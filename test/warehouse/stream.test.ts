/** The parts in which rows are read. */
import { expect, it } from 'vitest';
import { type RunText, streamOf } from '../../src/warehouse/sql/read-only-session.ts';

it('a stream fetches fewer rows at a time while they are long, and all of them', async () => {
  const lengths = [...Array.from({ length: 150 }, () => 10), ...Array.from({ length: 250 }, () => 2 ** 20), 10, 10];
  const fetched: number[] = [];
  let read = 0;
  const run: RunText = async (statement) => {
    const count = Number(/^fetch (\d+) /.exec(statement)?.[1] ?? 0);
    if (count > 0) fetched.push(count);
    const rows = lengths.slice(read, read + count).map((length) => ['x'.repeat(length), null]);
    read += count;
    return { fields: [], rows };
  };

  let rows = 0;
  for await (const part of streamOf(run)('select')) rows += part.rows.length;

  expect(rows).toBe(lengths.length);
  expect(fetched.slice(0, 3)).toEqual([1, 100, 100]);
  expect(fetched.slice(4, -1)).toSatisfy((counts: number[]) => counts.every((it) => it <= 5));
});
