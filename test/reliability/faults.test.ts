/**
 * The short form of the fault proxies: whatever the faults, the run completes with the same result and pays twice only
 * for listed losses.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { IS_LONG } from '../support/long.ts';
import { migrated } from '../support/templates.ts';
import { drawsOf } from './draws.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import type { Oracle } from './oracle.ts';
import { lostCommits, randomConnections, randomExchanges, type Spoil, spoiled } from './scenarios/faults.ts';
import { undisturbed } from './stage.ts';
import { SHORT_FORM } from './workload.ts';

const SEED = 5;

describe('a run behind fault proxies', () => {
  const templates = warehouseTemplates(inject('postgresUrl'), migrated);
  let oracle: Oracle;
  beforeAll(async () => {
    ({ oracle } = await undisturbed(templates, { ...SHORT_FORM, kind: 'postgres' }));
  });
  afterAll(() => templates.end());

  const alone: readonly [string, Spoil][] = [
    ['that disturb the service', { http: randomExchanges(drawsOf(SEED, 'answers')) }],
    ['that disturb the database', { postgres: randomConnections(drawsOf(SEED, 'connections')) }],
  ];

  it.each<[string, Spoil]>([
    ...(IS_LONG ? alone : []),
    [
      'that disturb the service and the database',
      { http: randomExchanges(drawsOf(SEED, 'both')), postgres: randomConnections(drawsOf(SEED, 'both')) },
    ],
    ['that drop replies to commits', { postgres: lostCommits }],
  ])('%s completes', { timeout: 300_000 }, async (_, spoil) => {
    const { violations, figures, befell } = await spoiled(templates, spoil, oracle, SHORT_FORM);
    expect(violations).toEqual([]);
    expect(figures.sentAgainAfterStored).toBe(0);
    // A proxy without a fault would prove nothing.
    const places = new Set(Object.keys(befell).map((fault) => fault.split(' ')[0]));
    expect([...places].toSorted()).toEqual([...(spoil.http ? ['HTTP'] : []), ...(spoil.postgres ? ['Postgres'] : [])]);
  });
});
