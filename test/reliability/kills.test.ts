/** The short form of the kills: each named point and some random moments; the long form is `npm run reliability`. */
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { countOf } from '../support/long.ts';
import { migrated } from '../support/templates.ts';
import { drawsOf } from './draws.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import type { Oracle } from './oracle.ts';
import { type Death, KILL_POINTS, killed, type KillPoint, randomDeath } from './scenarios/kills.ts';
import { killedWorkers } from './scenarios/workers.ts';
import { undisturbed } from './stage.ts';
import { IN_FLIGHT, shortConfig } from './workload.ts';

const SEED = 3;
/** With one endpoint each. */
const SYNCS = 10;
/** Dozens of processes, on a machine that runs other tests at the same time. */
const PATIENT = { timeout: 300_000 };

describe('a run that was killed with SIGKILL gives the same result when it is continued', () => {
  const templates = warehouseTemplates(inject('postgresUrl'), migrated);
  const draws = drawsOf(SEED, 'short form');
  let oracle: Oracle;
  let requests: number;
  beforeAll(async () => {
    ({ oracle, requests } = await undisturbed(templates, { kind: 'postgres', configOf: shortConfig }));
  });
  afterAll(() => templates.end());

  const expectSame = async (kind: Warehouse['kind'], ...deaths: readonly Death[]): Promise<void> => {
    const { violations, figures, died } = await killed(templates, kind, deaths, oracle, shortConfig);
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
    await Promise.all(KILL_POINTS.map((at) => two(() => expectSame('postgres', somewhere(at, 1)))));
  });

  it('after one or several kills at random moments', PATIENT, async () => {
    const once = Array.from({ length: countOf(1, 5) }, () => [randomDeath(draws, requests)]);
    const often = Array.from({ length: countOf(2, 5) }, () => randomDeath(draws, Math.round(requests / 5)));
    await Promise.all([...once, often].map((deaths) => two(() => expectSame('postgres', ...deaths))));
  });

  it(
    'after kills at each named point, one after the other, of workers that share runs in chunks',
    PATIENT,
    async () => {
      const deaths = KILL_POINTS.map((at): Death => ({ at, nth: draws.between(1, 4) }));
      const { violations, figures, died } = await killedWorkers(templates, deaths, oracle, {
        configOf: shortConfig,
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
