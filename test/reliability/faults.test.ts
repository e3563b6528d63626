/** The short form of the fault proxies: whatever they do on the way, the run comes to the same end and buys nothing twice without telling. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { drawsOf } from './draws.ts';
import { groundOn } from './ground.ts';
import type { Oracle } from './oracle.ts';
import { lostCommits, randomConnections, randomExchanges, type Spoil, spoiled } from './scenarios/faults.ts';
import { undisturbed } from './stage.ts';
import { shortConfig } from './workload.ts';

const SEED = 5;

describe('a run behind proxies that spoil', () => {
  const ground = groundOn(inject('postgresUrl'));
  let oracle: Oracle;
  beforeAll(async () => {
    ({ oracle } = await undisturbed(ground, { kind: 'postgres', configOf: shortConfig }));
  });
  afterAll(() => ground.end());

  it.each<[string, Spoil]>([
    ['answers of the service', { http: randomExchanges(drawsOf(SEED, 'answers')) }],
    ['connections to the database', { postgres: randomConnections(drawsOf(SEED, 'connections')) }],
    ['both', { http: randomExchanges(drawsOf(SEED, 'both')), postgres: randomConnections(drawsOf(SEED, 'both')) }],
    ['the replies to commits', { postgres: lostCommits }],
  ])('%s comes to its end', { timeout: 300_000 }, async (_, spoil) => {
    const { violations, figures, befell } = await spoiled(ground, spoil, oracle, shortConfig);
    expect(violations).toEqual([]);
    expect(figures.sentAgainAfterStored).toBe(0);
    expect(Object.keys(befell)).not.toEqual([]);
  });
});
