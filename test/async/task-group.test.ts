/** Work that is counted while it runs. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openTaskGroup } from '../../src/async/task-group.ts';

describe('work in progress', () => {
  it('is waited for until a condition is met', async () => {
    const errors: unknown[] = [];
    let ended = 0;
    const work = openTaskGroup(
      (error) => errors.push(error),
      () => {
        ended += 1;
      },
    );
    const held = [1, 2, 3].map(() => Promise.withResolvers<void>());
    for (const { promise } of held) work.track(promise);
    expect(work.size()).toBe(3);
    const met: string[] = [];
    const waits = [
      work.waitUntil(() => work.size() < 3).then(() => met.push('room')),
      work.waitUntil(() => work.size() === 0).then(() => met.push('empty')),
    ];
    await turn();
    expect(met).toEqual([]);
    held[1]?.reject(new Error('went wrong'));
    await turn();
    expect(met).toEqual(['room']);
    held[0]?.resolve();
    held[2]?.resolve();
    await Promise.all(waits);
    expect({ met, ended, errors }).toEqual({ met: ['room', 'empty'], ended: 3, errors: [new Error('went wrong')] });
  });

  it('is not waited for where the condition is met, and looked at again when stirred', async () => {
    const work = openTaskGroup(() => undefined);
    await work.waitUntil(() => true);
    let isNews = false;
    let looks = 0;
    const wait = work.waitUntil(() => {
      looks += 1;
      return isNews;
    });
    work.recheck();
    isNews = true;
    work.recheck();
    await wait;
    expect(looks).toBeGreaterThanOrEqual(3);
  });
});
