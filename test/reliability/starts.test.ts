/**
 * The short form of several starts: one process works, the others end at once, a dead one is replaced, and writers
 * cause no deadlocks.
 */
import { afterAll, describe, expect, inject, it } from 'vitest';
import { countOf } from '../support/long.ts';
import { migrated } from '../support/templates.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import { replaced, startedAtOnce, startedSecond } from './scenarios/starts.ts';
import { twoWriters } from './scenarios/writers.ts';

/** Dozens of processes, on a machine that runs other tests at the same time. */
const PATIENT = { timeout: 300_000 };

describe('several processes on one sync', () => {
  const templates = warehouseTemplates(inject('postgresUrl'), migrated);
  afterAll(() => templates.end());

  it('start at once: one works, and the others exit with 7', PATIENT, async () => {
    for (let round = 1; round <= countOf(1, 2); round += 1) {
      const { codes, requests, violations } = await startedAtOnce(templates, countOf(2, 3), 5);
      expect(violations).toEqual([]);
      expect(codes).toEqual([0, ...Array.from({ length: countOf(6, 7) }, () => 7)]);
      expect(requests).toBe(6);
    }
  });

  it('do not wait: the second one ends while the first one runs', async () => {
    // The long form measures the duration; here other tests run at the same time.
    expect(await startedSecond(templates, 'sluiceHere')).toMatchObject({ code: 7 });
  });

  it('replace a dead one after its lease has expired, and not before', PATIENT, async () => {
    const { violations, takenOverMs, refused } = await replaced(templates, 'here');
    expect(violations).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    // 15 s on an idle machine; starting processes takes time here.
    expect(takenOverMs).toBeLessThan(30_000);
  });

  it('write the same keys without a deadlock', async () => {
    const rounds = countOf(25, 50);
    expect(await twoWriters(templates, rounds)).toMatchObject({ rounds, deadlocks: 0, unaccounted: 0 });
  });
});
