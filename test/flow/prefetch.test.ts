/** Groups of answers: the next is filled while one is worked on, and nobody waits for company that may never come. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { prefetchGroups } from '../../src/flow/ingest/prefetch.ts';
import { batchOf } from '../support/loading.ts';
import { given } from '../support/given.ts';
import { profile } from '../load/items.ts';

const batch = batchOf('microblog.user', { user: 'x' }, [profile('1')]);
const answer = (id: number) => ({ id, batch, bytes: 1 });
const MOST = { rows: 4, bytes: 100 };

/** Answers that come when they are put in. */
function inbox() {
  const waiting: ReturnType<typeof answer>[] = [];
  let stir = Promise.withResolvers<void>();
  let isOver = false;
  const stirred = (): void => {
    stir.resolve();
    stir = Promise.withResolvers();
  };
  async function* source() {
    for (;;) {
      const next = waiting.shift();
      if (next) yield next;
      else if (isOver) return undefined;
      else await stir.promise;
    }
  }
  return {
    source: source(),
    isAtHand: () => waiting.length > 0,
    put: (...ids: readonly number[]) => {
      waiting.push(...ids.map(answer));
      stirred();
    },
    end: () => {
      isOver = true;
      stirred();
    },
  };
}

const turns = async (): Promise<void> => {
  for (let count = 0; count < 5; count += 1) await turn();
};

describe('groups ahead', () => {
  it('give what is there, and fill the next meanwhile', async () => {
    const { source, isAtHand: hasMore, put, end } = inbox();
    const groups = prefetchGroups(source, MOST, { hasMore });
    const next = async () => (await groups.next()).value?.map(({ id }) => id);
    const first = next();
    put(1);
    expect(await first).toEqual([1]);
    put(2);
    await turns();
    put(3, 4, 5, 6, 7);
    await turns();
    expect(await next()).toEqual([2, 3, 4, 5]);
    await turns();
    expect(await next()).toEqual([6, 7]);
    const last = next();
    end();
    expect(await last).toBeUndefined();
  });

  it('wait for a full one while more is at hand', async () => {
    const groups = await Array.fromAsync(prefetchGroups(given([1, 2, 3, 4, 5, 6].map(answer)), MOST));
    expect(groups.map((group) => group.map(({ id }) => id))).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  it('hold no more than a group and one after it', async () => {
    let taken = 0;
    async function* endless() {
      for (;;) {
        taken += 1;
        yield answer(taken);
      }
    }
    const groups = prefetchGroups(endless(), MOST);
    expect((await groups.next()).value).toHaveLength(4);
    await turns();
    expect(taken).toBe(9);
    await groups.return(undefined);
  });

  it('give what came before an error, and then the error', async () => {
    async function* broken() {
      yield answer(1);
      yield answer(2);
      throw new Error('no more');
    }
    const groups = prefetchGroups(broken(), MOST);
    expect((await groups.next()).value).toHaveLength(2);
    await expect(groups.next()).rejects.toThrow('no more');
  });
});
