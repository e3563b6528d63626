/** The short form of the kills: each named point and some random moments; the long form is `npm run reliability`. */
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { IS_LONG } from '../support/long.ts';
import { migrated } from '../support/templates.ts';
import { drawsOf } from './draws.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import type { Oracle } from './oracle.ts';
import { type Death, KILL_POINTS, killed, type KillPoint, randomDeath } from './scenarios/kills.ts';
import { killedWorkers } from './scenarios/workers.ts';
import { undisturbed } from './stage.ts';
import { type Form, groupsConfig, IN_FLIGHT, SHORT_FORM } from './workload.ts';

const SEED = 3;
/** With one endpoint each. */
const SYNCS = 10;
/** Its answer is lost, and so in doubt. */
const ALONE: KillPoint = 'mid_body';
/** The last occurrence of a point at which one of several kills happens: each run of them has fewer left. */
const SHARED = 3;
/** Loads come first, because a run has few of them. */
const LOADS: readonly KillPoint[] = ['before_load_commit', 'after_load_commit'];
/** One point for each state that a death leaves in the ledger: planned, sent, stored and loaded. */
const STATES: readonly KillPoint[] = ['before_sent', ALONE, 'after_store', 'after_load_commit'];
/** Dozens of processes, on a machine that runs other tests at the same time. */
const PATIENT = { timeout: 300_000 };

describe('a run that was killed with SIGKILL gives the same result when it is continued', () => {
  const templates = warehouseTemplates(inject('postgresUrl'), migrated);
  const draws = drawsOf(SEED, 'short form');
  let oracle: Oracle;
  let requests: number;
  beforeAll(async () => {
    ({ oracle, requests } = await undisturbed(templates, { ...SHORT_FORM, kind: 'postgres' }));
  });
  afterAll(() => templates.end());

  const expectSame = async (
    kind: Warehouse['kind'],
    deaths: readonly Death[],
    expected = oracle,
    form: Form = SHORT_FORM,
  ): Promise<void> => {
    const { violations, figures, died, missed } = await killed(templates, kind, deaths, expected, form);
    expect({ deaths, violations }).toEqual({ deaths, violations: [] });
    expect(figures.sentAgainAfterStored).toBe(0);
    expect(figures.inDoubt).toBeLessThanOrEqual(died * IN_FLIGHT);
    expect(missed.filter((death) => 'at' in death)).toEqual([]);
  };
  /** A load takes all waiting answers, so there may be as few loads as syncs. */
  const somewhere = (at: KillPoint, least: number): Death => ({
    at,
    nth: draws.between(least, at.endsWith('load_commit') ? SYNCS : requests - 20),
  });
  const soon = (at: KillPoint): Death => ({ at, nth: draws.between(1, SHARED) });
  const atRandom = (count: number, within: number): Death[] =>
    Array.from({ length: count }, () => randomDeath(draws, within));
  const two = pLimit(2);

  it('after a kill at each named point and at random moments', PATIENT, async () => {
    // A kill that stays alone has its losses listed by the next run. The others share a run, unless there is time.
    const others = [...LOADS, ...KILL_POINTS.filter((at) => at !== ALONE && !LOADS.includes(at))];
    const runs = IS_LONG
      ? [
          ...KILL_POINTS.map((at) => [somewhere(at, 1)]),
          ...atRandom(5, requests).map((death) => [death]),
          atRandom(5, Math.round(requests / 5)),
        ]
      : [[somewhere(ALONE, 1)], [...others.map(soon), ...atRandom(1, Math.round(requests / 5))]];
    await Promise.all(runs.map((deaths) => two(() => expectSame('postgres', deaths))));
  });

  it(
    'after kills in each state of a request, one after the other, of workers that share runs in chunks',
    PATIENT,
    async () => {
      const points = IS_LONG ? KILL_POINTS : STATES;
      const deaths = points.map((at): Death => ({ at, nth: draws.between(1, 4) }));
      const { violations, figures, died } = await killedWorkers(templates, deaths, oracle, {
        form: SHORT_FORM,
        chunkSize: 4,
        inCompany: false,
      });
      expect({ deaths, violations }).toEqual({ deaths, violations: [] });
      expect(figures.sentAgainAfterStored).toBe(0);
      expect(died).toBe(deaths.length);
    },
  );

  it('after a kill in a transaction of an embedded warehouse', PATIENT, async () => {
    if (IS_LONG)
      await expectSame('embedded', [
        { at: 'before_store', nth: 7 },
        { at: 'before_load_commit', nth: 3 },
      ]);
    const small: Form = { configOf: () => groupsConfig(12), survivors: 'here' };
    const expected = await undisturbed(templates, { ...small, kind: 'postgres' });
    await expectSame('embedded', [{ at: 'before_load_commit', nth: 2 }], expected.oracle, small);
  });
});
