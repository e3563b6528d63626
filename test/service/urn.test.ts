/** The ways in which people write a URN. */
import { expect, it } from 'vitest';
import { COMPANY_URN_TYPES, urnOf } from '../../src/service/names/urn.ts';

it.each([
  ['fsd_profile:abc', 'fsd_profile', 'abc'],
  ['urn:li:fsd_profile:abc', 'fsd_profile', 'abc'],
  [' activity:7123456789012345678 ', 'activity', '7123456789012345678'],
  ['urn:li:ugcPost:(a,b):c', 'ugcPost', '(a,b):c'],
  ['fsd_profile:ACoAA-_x', 'fsd_profile', 'ACoAA-_x'],
])('the text %j names a URN', (written, type, value) => {
  expect(urnOf(written)).toEqual({ type, value });
});

it.each([
  '',
  'abc',
  ':abc',
  'fsd_profile:',
  'urn:li:fsd_profile',
  'urn:li:',
  'urn:other:fsd_profile:abc',
  '1type:abc',
  'fsd profile:abc',
  'fsd_profile:a b',
])('the text %j names no URN', (written) => {
  expect(urnOf(written)).toBeUndefined();
});

it('an address is not taken for a URN of a person', () => {
  expect(urnOf('https://example.com/in/someone')?.type).not.toBe('fsd_profile');
});

it('companies and schools are organizations', () => {
  expect([...COMPANY_URN_TYPES].toSorted()).toEqual(['company', 'fsd_company', 'school']);
});
