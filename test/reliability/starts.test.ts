/** The short form of several starts: one process works, the others end at once, a dead one is replaced, writers don't lock each other out. */
import { afterAll, describe, expect, inject, it } from 'vitest';
import { groundOn } from './ground.ts';
import { replaced, startedAtOnce, startedSecond } from './scenarios/starts.ts';
import { twoWriters } from './scenarios/writers.ts';

/** Dozens of processes, on a machine that runs other tests beside. */
const PATIENT = { timeout: 300_000 };

describe('of several processes on one sync', () => {
  const ground = groundOn(inject('postgresUrl'));
  afterAll(() => ground.end());

  it('that start at once one works and the others end with 7', PATIENT, async () => {
    for (let round = 1; round <= 2; round += 1) {
      const { codes, requests, violations } = await startedAtOnce(ground, 8);
      expect(violations).toEqual([]);
      expect(codes).toEqual([0, 7, 7, 7, 7, 7, 7, 7]);
      expect(requests).toBe(6);
    }
  });

  it('the second ends while the first is at work', async () => {
    // How soon is for the long form to measure: here other tests run beside it.
    expect(await startedSecond(ground)).toMatchObject({ code: 7 });
  });

  it('the next takes over from a dead one when its lease ran out, and not before', PATIENT, async () => {
    const { violations, takenOverMs, refused } = await replaced(ground);
    expect(violations).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    // 15 s on a machine that has nothing else to do; starting processes takes its time here.
    expect(takenOverMs).toBeLessThan(30_000);
  });

  it('two that write the same keys never lock each other out', async () => {
    expect(await twoWriters(ground, 50)).toMatchObject({ rounds: 50, deadlocks: 0, unaccounted: 0 });
  });
});
