/** The short form of the odd services: one draw of each scenario. */
import { afterAll, describe, expect, inject, it } from 'vitest';
import { migrated } from '../support/templates.ts';
import { drawsOf } from './draws.ts';
import { sluiceHere } from './processes.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import { lookAlikeNames, oddTransports, unreadableWindow, wrongPrices } from './scenarios/odd-services.ts';

const SEED = 11;

describe('a service that answers in odd ways', () => {
  const templates = warehouseTemplates(inject('postgresUrl'), migrated);
  afterAll(() => templates.end());

  it.each([
    ['unreadable answers in a window', unreadableWindow],
    ['odd transports', oddTransports],
    ['names that look alike', lookAlikeNames],
    ['prices that the config does not know', wrongPrices],
  ])('does not break a promise by %s', { timeout: 240_000 }, async (title, scenario) => {
    const { violations, calls } = await scenario(templates, drawsOf(SEED, title), sluiceHere);
    expect(violations).toEqual([]);
    expect(calls).toBeGreaterThan(0);
  });
});
