/** Work in batches: in order, no call waits for others, and an item that fails does so alone. */
import * as fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type BatcherOptions, batched } from '../../src/async/batcher.ts';

interface Batch {
  readonly items: readonly number[];
  readonly end: (error?: Error) => void;
}

/** Work whose batches end on command, and double their items. */
function held(settings: Partial<BatcherOptions<number>> = {}) {
  const batches: Batch[] = [];
  const double = batched(
    (items: readonly number[]) =>
      new Promise<number[]>((resolve, reject) => {
        batches.push({ items, end: (error) => (error ? reject(error) : resolve(items.map((item) => 2 * item))) });
      }),
    { maxItems: 10, failsWholeBatch: () => false, ...settings },
  );
  return { batches, double };
}

describe('gathered work', () => {
  it('processes a single call immediately, and calls in the meantime together', async () => {
    const { batches, double } = held();
    const all = [1, 2, 3].map(double);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
    batches[0]?.end();
    expect(await all[0]).toBe(2);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3]]);
    batches[1]?.end();
    expect(await Promise.all(all)).toEqual([2, 4, 6]);
    const later = double(4);
    expect(batches.at(-1)?.items).toEqual([4]);
    batches.at(-1)?.end();
    expect(await later).toBe(8);
  });

  it('takes no more at once than allowed, by number or weight, and a heavier one alone', async () => {
    const sizes = async (settings: Partial<BatcherOptions<number>>, items: readonly number[]): Promise<number[][]> => {
      const batches: number[][] = [];
      const work = batched(
        async (batch: readonly number[]) => {
          await turn();
          batches.push([...batch]);
          return batch;
        },
        { maxItems: 10, failsWholeBatch: () => false, ...settings },
      );
      await Promise.all(items.map(work));
      return batches;
    };
    expect(await sizes({ maxItems: 2 }, [1, 2, 3, 4, 5])).toEqual([[1], [2, 3], [4, 5]]);
    const weighed = { weightOf: (item: number) => item, maxWeight: 5 };
    expect(await sizes(weighed, [1, 2, 3, 1, 9, 5, 1])).toEqual([[1], [2, 3], [1], [9], [5], [1]]);
  });

  it('fails only the item that cannot be done, and all for an error that concerns all', async () => {
    const bad = new Error('13 is bad');
    const away = new Error('nobody there');
    const calls: (readonly number[])[] = [];
    let isAway = false;
    const work = batched(
      async (items: readonly number[]) => {
        calls.push(items);
        await turn();
        if (isAway) throw away;
        if (items.includes(13)) throw bad;
        return items;
      },
      { maxItems: 10, failsWholeBatch: (error) => error === away },
    );
    const [first, ...others] = await Promise.allSettled([1, 2, 13, 4].map(work));
    expect(first).toEqual({ status: 'fulfilled', value: 1 });
    expect(others).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 4 },
    ]);
    expect(calls).toEqual([[1], [2, 13, 4], [2], [13], [4]]);
    await turn();
    isAway = true;
    const lost = await Promise.allSettled([5, 6, 7].map(work));
    expect(lost.map((it) => it.status === 'rejected' && it.reason)).toEqual([away, away, away]);
    expect(calls.slice(5)).toEqual([[5], [6, 7]]);
  });

  it('does each item once and in the order of the calls, whenever they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 })),
        fc.integer({ min: 1, max: 4 }),
        async (pauses, maxItems) => {
          const done: number[] = [];
          const work = batched(
            async (items: readonly number[]) => {
              await turn();
              done.push(...items);
              return items;
            },
            { maxItems, failsWholeBatch: () => true },
          );
          const asked: Promise<number>[] = [];
          for (const [item, pause] of pauses.entries()) {
            for (let n = 0; n < pause; n += 1) await turn();
            asked.push(work(item));
          }
          expect(await Promise.all(asked)).toEqual([...pauses.keys()]);
          expect(done).toEqual([...pauses.keys()]);
        },
      ),
      { numRuns: 50 },
    );
  });
});
