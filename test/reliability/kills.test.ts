/** The short form of the kills: each named point and some random moments; the long form is `npm run reliability`. */
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { countOf, IS_LONG } from '../support/long.ts';
import { migrated } from '../support/templates.ts';
import { drawsOf } from './draws.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import type { Oracle } from './oracle.ts';
import { type Death, KILL_POINTS, killed, type KillPoint, randomDeath } from './scenarios/kills.ts';
import { killedWorkers } from './scenarios/workers.ts';
import { undisturbed } from './stage.ts';
import { IN_FLIGHT, SHORT_FORM } from './workload.ts';

const SEED = 3;
/** With one endpoint each. */
const SYNCS = 10;
/** Its answer is lost, and so in doubt. */
const ALONE: KillPoint = 'mid_body';
const isBefore = (at: KillPoint): boolean => at.startsWith('before');
/** The last occurrence of a point at which one of several kills happens: each run of them has fewer left. */
const SHARED = 3;
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

  const expectSame = async (kind: Warehouse['kind'], ...deaths: readonly Death[]): Promise<void> => {
    const { violations, figures, died } = await killed(templates, kind, deaths, oracle, SHORT_FORM);
    expect({ deaths, violations }).toEqual({ deaths, violations: [] });
    expect(figures.sentAgainAfterStored).toBe(0);
    expect(figures.inDoubt).toBeLessThanOrEqual(died * IN_FLIGHT);
    if (deaths.some((death) => 'at' in death)) expect(died).toBe(deaths.length);
  };
  /** A load takes all waiting answers, so there may be as few loads as syncs. */
  const somewhere = (at: KillPoint, least: number): Death => ({
    at,
    nth: draws.between(least, at.endsWith('load_commit') ? SYNCS : requests - 20),
  });
  const two = pLimit(2);

  it('after a kill at each named point', PATIENT, async () => {
    // A kill that stays alone has its losses listed by the next run. The others share runs, unless there is time.
    const [before, after] = [KILL_POINTS.filter(isBefore), KILL_POINTS.filter((at) => !isBefore(at) && at !== ALONE)];
    const runs = IS_LONG ? KILL_POINTS.map((at) => [at]) : [[ALONE], before, after];
    const deathsOf = (points: readonly KillPoint[]): Death[] =>
      points.map((at) => (points.length === 1 ? somewhere(at, 1) : { at, nth: draws.between(1, SHARED) }));
    await Promise.all(runs.map((points) => two(() => expectSame('postgres', ...deathsOf(points)))));
  });

  it('after one or several kills at random moments', PATIENT, async () => {
    const once = Array.from({ length: countOf(0, 5) }, () => [randomDeath(draws, requests)]);
    const often = Array.from({ length: countOf(2, 5) }, () => randomDeath(draws, Math.round(requests / 5)));
    await Promise.all([...once, often].map((deaths) => two(() => expectSame('postgres', ...deaths))));
  });

  it(
    'after kills at each named point, one after the other, of workers that share runs in chunks',
    PATIENT,
    async () => {
      const deaths = KILL_POINTS.map((at): Death => ({ at, nth: draws.between(1, 4) }));
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

  it('after two kills in an embedded warehouse', PATIENT, () =>
    expectSame('embedded', { at: 'before_store', nth: 7 }, { at: 'before_load_commit', nth: 3 }),
  );
});
