/** Groups of answers: the next fills while others are committed, two at a time where they have nothing in common. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LoadPipeline } from '../../src/flow/ingest/load-pipeline.ts';
import { batchOf } from '../support/loading.ts';
import { profile } from '../load/items.ts';

const batch = batchOf('microblog.user', { user: 'x' }, [profile('1')]);

const turns = async (): Promise<void> => {
  for (let count = 0; count < 5; count += 1) await turn();
};

/** Commits that last until they are ended; groups whose first answers share a letter have something in common. */
function scene({
  concurrency = 2,
  size = 1,
  pause,
}: {
  concurrency?: number;
  size?: number;
  pause?: () => Promise<void>;
} = {}) {
  const begun: string[] = [];
  const results: string[] = [];
  const added: string[] = [];
  const open = new Map<string, PromiseWithResolvers<string>>();
  const pipeline = new LoadPipeline<
    { readonly id: string; readonly batch: typeof batch; readonly bytes: number },
    string
  >({
    limits: { rows: 1000, bytes: 1000, answers: size },
    concurrency,
    isIndependent: ([one], [other]) => one?.id[0] !== other?.id[0],
    commit: (group) => {
      const name = group.map(({ id }) => id).join('+');
      begun.push(name);
      const work = Promise.withResolvers<string>();
      open.set(name, work);
      return work.promise;
    },
    report: (result) => results.push(result),
    pause,
  });
  /** Adds answers one after the other, as fast as the pipeline takes them. */
  const put = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      await pipeline.add({ id, batch, bytes: 1 });
      added.push(id);
    }
  };
  const all = async (...ids: readonly string[]): Promise<void> => {
    await put(...ids);
    await pipeline.end();
  };
  return {
    begun,
    results,
    added,
    put,
    flush: () => pipeline.flush(),
    finish: () => pipeline.end(),
    all: (...ids: readonly string[]) => {
      const done = all(...ids);
      done.catch(() => undefined);
      return done;
    },
    end: async (name: string) => {
      open.get(name)?.resolve(name);
      await turns();
    },
    fail: async (name: string) => {
      open.get(name)?.reject(new Error(`${name} failed`));
      await turns();
    },
  };
}

describe('commits of groups', () => {
  it('are two at a time, and report their results in order', async () => {
    const { begun, results, all, end } = scene();
    const done = all('a', 'b', 'c', 'd');
    await turns();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(results).toEqual([]);
    expect(begun).toHaveLength(2);
    await end('a');
    expect(results).toEqual(['a', 'b']);
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    await done;
    expect(results).toEqual(['a', 'b', 'c', 'd']);
  });

  it('wait for those before them with which they have something in common', async () => {
    const { begun, results, all, end } = scene();
    const done = all('a1', 'a2', 'b');
    await turns();
    expect(begun).toEqual(['a1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b']);
    await end('a2');
    await end('b');
    await done;
    expect(results).toEqual(['a1', 'a2', 'b']);
  });

  it('are one after the other where they must be', async () => {
    const { begun, all, end } = scene({ concurrency: 1 });
    const done = all('a', 'b');
    await turns();
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    await done;
  });

  it('fail with the first error, when the concurrent commit has ended', async () => {
    const { begun, results, all, end, fail } = scene();
    let isOver = false;
    const done = all('a', 'b', 'c');
    void done.catch(() => {
      isOver = true;
    });
    await turns();
    await fail('a');
    expect(isOver).toBe(false);
    await end('b');
    await expect(done).rejects.toThrow('a failed');
    expect(results).toEqual([]);
    expect(begun).not.toContain('c');
  });

  it('fail with one that failed early behind the result before it', async () => {
    const { results, all, end, fail } = scene();
    const done = all('a', 'b', 'c');
    await turns();
    await fail('b');
    await end('a');
    await expect(done).rejects.toThrow('b failed');
    expect(results).toEqual(['a']);
  });

  it('fail with their error at the next answer too', async () => {
    const { put, flush, fail } = scene({ size: 4 });
    await put('a');
    flush();
    await turns();
    await fail('a');
    await expect(put('b')).rejects.toThrow('a failed');
  });
});

describe('a group', () => {
  it('is full before it is committed, while more answers are available', async () => {
    const { begun, all, end } = scene({ size: 4, concurrency: 1 });
    const done = all('1', '2', '3', '4', '5', '6');
    await turns();
    expect(begun).toEqual(['1+2+3+4']);
    await end('1+2+3+4');
    await end('5+6');
    await done;
    expect(begun).toEqual(['1+2+3+4', '5+6']);
  });

  it('is committed immediately when there are no more answers, and the next fills meanwhile', async () => {
    const { begun, put, flush, finish, end } = scene({ size: 4 });
    await put('1');
    flush();
    await turns();
    expect(begun).toEqual(['1']);
    await put('2');
    flush();
    await put('3', '4', '5');
    const blocked = put('6', '7');
    await turns();
    // A full group does not wait for a flush.
    expect(begun).toEqual(['1', '2+3+4+5']);
    await blocked;
    await end('1');
    expect(begun).toHaveLength(2);
    await end('2+3+4+5');
    flush();
    await turns();
    expect(begun).toEqual(['1', '2+3+4+5', '6+7']);
    await end('6+7');
    await finish();
  });

  it('waits for the commits before it and a pause, and grows until then', async () => {
    const pause = Promise.withResolvers<void>();
    const { begun, put, flush, finish, end } = scene({ size: 4, pause: () => pause.promise });
    await put('1');
    const first = finish();
    await turns();
    await put('2');
    flush();
    await turns();
    expect(begun).toEqual(['1']);
    await end('1');
    await first;
    await put('3');
    flush();
    expect(begun).toEqual(['1']);
    pause.resolve();
    await turns();
    expect(begun).toEqual(['1', '2+3']);
    await end('2+3');
  });

  it('is the only one that fills, with one answer after it', async () => {
    const { added, all, end } = scene({ size: 4, concurrency: 1 });
    const done = all('1', '2', '3', '4', '5', '6', '7', '8', '9', '10');
    await turns();
    expect(added).toHaveLength(8);
    await end('1+2+3+4');
    await end('5+6+7+8');
    await end('9+10');
    await done;
  });
});
