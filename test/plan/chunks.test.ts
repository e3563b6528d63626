/** How the requests of a run are split into chunks for workers. */
import { describe, expect, it } from 'vitest';
import { ChunkPlan } from '../../src/plan/chunks.ts';

describe('chunks', () => {
  const tasks = (count: number) => Array.from({ length: count }, (_, at) => ({ requestKey: String(at) }));
  /** The chunks of a plan that comes in parts of three tasks. */
  const chunksOf = (count: number, most: number, isSettled: (key: string) => boolean = () => false) => {
    const chunks = new ChunkPlan(most);
    const all = tasks(count);
    const chunkOf = all.flatMap((_, at) => (at % 3 === 0 ? chunks.assign(all.slice(at, at + 3), isSettled) : []));
    return { chunkOf, sizes: chunks.sizes };
  };

  it('are full except for the last, and none when one would do', () => {
    expect(chunksOf(10, 10).sizes).toEqual([]);
    const N = null;
    expect(chunksOf(11, 5)).toEqual({ chunkOf: [N, N, N, N, N, 1, 1, 1, 1, 1, 2], sizes: [5, 5, 1] });
    expect(chunksOf(0, 5)).toEqual({ chunkOf: [], sizes: [] });
  });

  it('count requests to send, and keep other requests beside them', () => {
    const isFresh = (key: string) => ['0', '1', '2', '5'].includes(key);
    expect(chunksOf(7, 5, isFresh).sizes).toEqual([]);
    expect(chunksOf(7, 2, isFresh)).toEqual({ chunkOf: [null, null, null, null, null, null, 1], sizes: [2, 1] });
  });

  it('hold every task, in order, whatever the size', () => {
    for (const count of [1, 2, 7, 100, 1001])
      for (const most of [1, 2, 3, 10, 250]) {
        const { chunkOf, sizes } = chunksOf(count, most);
        expect(chunkOf.length).toBe(count);
        if (sizes.length === 0) {
          expect([count <= most, new Set(chunkOf)]).toEqual([true, new Set([null])]);
          continue;
        }
        const numbers = chunkOf.map((it) => it ?? 0);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(sizes.map((_, chunk) => numbers.filter((it) => it === chunk).length)).toEqual(sizes);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
      }
  });
});
