/** Works side by side: in order, two at a time where they have nothing in common, and none left behind by a failure. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { orderedParallel } from '../../src/async/ordered-parallel.ts';

const turns = async (): Promise<void> => {
  for (let count = 0; count < 5; count += 1) await turn();
};

/** Works that last until they are ended; items of one letter have something in common. */
function scene(items: readonly string[], { most: concurrency = 2, endless = false } = {}) {
  const log: string[] = [];
  const open = new Map<string, PromiseWithResolvers<string>>();
  const over = Promise.withResolvers<void>();
  const results: string[] = [];
  let isIdle: (() => Promise<void>) | undefined;
  async function* source(idle: () => Promise<void>): AsyncGenerator<string, undefined> {
    isIdle = idle;
    try {
      for (const item of items) {
        log.push(`asked for ${item}`);
        if (item === 'broken') throw new Error('no more');
        yield item;
      }
      if (endless) await over.promise;
      return undefined;
    } finally {
      log.push('closed');
    }
  }
  const works = orderedParallel({
    concurrency,
    source,
    work: (item) => {
      log.push(`begun ${item}`);
      const work = Promise.withResolvers<string>();
      open.set(item, work);
      return work.promise;
    },
    isIndependent: (one, other) => one[0] !== other[0],
  });
  const all = (async () => {
    for await (const result of works) results.push(result);
  })();
  all.catch(() => undefined);
  return {
    log,
    results,
    all,
    over: over.resolve,
    idle: () => isIdle?.(),
    end: async (item: string) => {
      open.get(item)?.resolve(item);
      await turns();
    },
    fail: async (item: string) => {
      open.get(item)?.reject(new Error(`${item} failed`));
      await turns();
    },
  };
}

describe('works side by side', () => {
  it('are two at a time, and give their results in order', async () => {
    const { log, results, all, end } = scene(['a', 'b', 'c', 'd']);
    await turns();
    expect(log).toEqual(['asked for a', 'begun a', 'asked for b', 'begun b']);
    await end('b');
    expect(results).toEqual([]);
    expect(log).toHaveLength(4);
    await end('a');
    expect(results).toEqual(['a', 'b']);
    expect(log.slice(4)).toEqual(['asked for c', 'begun c', 'asked for d', 'begun d']);
    await end('c');
    await end('d');
    await all;
    expect(results).toEqual(['a', 'b', 'c', 'd']);
    expect(log.at(-1)).toBe('closed');
  });

  it('wait for those before them with which they have something in common', async () => {
    const { log, results, all, end } = scene(['a1', 'a2', 'b']);
    await turns();
    expect(log).toEqual(['asked for a1', 'begun a1', 'asked for a2']);
    await end('a1');
    expect(log.slice(3)).toEqual(['begun a2', 'asked for b', 'begun b']);
    await end('a2');
    await end('b');
    await all;
    expect(results).toEqual(['a1', 'a2', 'b']);
  });

  it('are one after the other where they must be, each asked for when the one before is done', async () => {
    const { log, all, end } = scene(['a', 'b'], { most: 1 });
    await turns();
    expect(log).toEqual(['asked for a', 'begun a']);
    await end('a');
    expect(log.slice(2)).toEqual(['asked for b', 'begun b']);
    await end('b');
    await all;
  });

  it('give a result while the source has nothing more for now, and tell it when all is idle', async () => {
    const { results, all, idle, end, over } = scene(['a'], { endless: true });
    await turns();
    let isIdle = false;
    void idle()?.then(() => {
      isIdle = true;
    });
    await turns();
    expect(isIdle).toBe(false);
    await end('a');
    expect(results).toEqual(['a']);
    expect(isIdle).toBe(true);
    over();
    await all;
  });

  it('fail with the first that fails, when the one beside it has ended', async () => {
    const { log, results, all, end, fail } = scene(['a', 'b', 'c']);
    await turns();
    await fail('a');
    expect(log.at(-1)).toBe('begun b');
    await end('b');
    await expect(all).rejects.toThrow('a failed');
    expect(results).toEqual([]);
    expect(log.at(-1)).toBe('closed');
    expect(log).not.toContain('begun c');
  });

  it('fail with one that failed early behind the result before it', async () => {
    const { log, results, all, end, fail } = scene(['a', 'b', 'c']);
    await turns();
    await fail('b');
    await end('a');
    await expect(all).rejects.toThrow('b failed');
    expect(results).toEqual(['a']);
    expect(log.at(-1)).toBe('closed');
  });

  it('fail with the source behind the results before it', async () => {
    const { results, all, end } = scene(['a', 'broken']);
    await turns();
    await end('a');
    await expect(all).rejects.toThrow('no more');
    expect(results).toEqual(['a']);
  });
});
