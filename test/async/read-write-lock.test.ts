/** The read-write lock: shared and exclusive work in the order of the calls. */
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { openReadWriteLock } from '../../src/async/read-write-lock.ts';

it('the lock runs shared work together and exclusive work alone, in the order of the calls, whatever fails', async () => {
  const turns = openReadWriteLock();
  const log: string[] = [];
  const open = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string) => async (): Promise<string> => {
    log.push(name);
    const ended = Promise.withResolvers<void>();
    open.set(name, ended);
    await ended.promise;
    return name;
  };
  const ended = async (...names: readonly string[]): Promise<string[]> => {
    for (const name of names) open.get(name)?.resolve();
    for (let count = 0; count < 5; count += 1) await turn();
    return log.splice(0);
  };
  const done = [
    turns.shared(work('a')),
    turns.shared(work('b')),
    turns.exclusive(work('C')),
    turns.exclusive(work('D')),
    turns.shared(work('e')),
    turns.shared(work('f')),
    turns.exclusive(work('G')),
  ];
  const settled = Promise.allSettled(done);
  expect(await ended()).toEqual(['a', 'b']);
  open.get('b')?.reject(new Error('b failed'));
  expect(await ended()).toEqual([]);
  expect(await ended('a')).toEqual(['C']);
  open.get('C')?.reject(new Error('C failed'));
  expect(await ended()).toEqual(['D']);
  expect(await ended('D')).toEqual(['e', 'f']);
  expect(await ended('f')).toEqual([]);
  expect(await ended('e')).toEqual(['G']);
  await ended('G');
  expect((await settled).map((it) => (it.status === 'fulfilled' ? it.value : (it.reason as Error).message))).toEqual([
    'a',
    'b failed',
    'C failed',
    'D',
    'e',
    'f',
    'G',
  ]);
});

it('the lock keeps no result of the work that it ran', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const turns = openReadWriteLock();
  const results: WeakRef<object>[] = [];
  for (const way of ['shared', 'exclusive', 'shared', 'shared'] as const)
    await (async () => {
      results.push(new WeakRef(await turns[way](async () => ({ held: true }))));
    })();
  // The target of a weak reference is kept until the end of the current job.
  await turn();
  collect();
  expect(results.map((it) => it.deref())).toEqual([undefined, undefined, undefined, undefined]);
});
