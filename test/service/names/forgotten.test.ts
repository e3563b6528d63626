/** Requests of the ledger that contain a pseudonym. */
import { expect, it } from 'vitest';
import { asksForPseudonym, pseudonymOf } from '../../../src/service/names/forgotten.ts';

it('finds a pseudonym in each place of a request, also inside a text', () => {
  const pseudonym = pseudonymOf('0123456789abcdef0123456789abcdef');
  expect(asksForPseudonym({ keywords: `by ${pseudonym}, engineer` })).toBe(true);
  expect(asksForPseudonym({ urn: { type: 'fsd_profile', value: pseudonym } })).toBe(true);
  expect(asksForPseudonym({ location: ['Berlin', pseudonym] })).toBe(true);
  expect(asksForPseudonym({ keywords: 'engineer', count: 10 })).toBe(false);
});
