/** Figures as the page writes them. */
import { describe, expect, it } from 'vitest';
import {
  bytes,
  compact,
  withNoun,
  withThousands,
  instant,
  lastDays,
  milliseconds,
  percent,
  shortDay,
  durationText,
} from '../../src/report/figures.ts';

const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

describe('figures', () => {
  it.each([
    [withThousands(0), '0'],
    [withThousands(1_234_567.891), '1,234,567.89'],
    [withThousands(-1234), '\u22121,234'],
    [withNoun(1, 'point'), '1 point'],
    [withNoun(2, 'entry', 'entries'), '2 entries'],
    [compact(9_500), '9,500'],
    [compact(20_000), '20k'],
    [compact(1_500_000), '1.5M'],
    [percent(1), '100 %'],
    [percent(0.99999), '> 99.9 %'],
    [percent(0.00001), '< 0.1 %'],
    [percent(0), '0 %'],
    [percent(0.1234), '12.3 %'],
    [milliseconds(0), '0 ms'],
    [milliseconds(850), '850 ms'],
    [milliseconds(4_230), '4.2 s'],
    [milliseconds(301_000), '301 s'],
    [bytes(0), '0 B'],
    [bytes(999), '999 B'],
    [bytes(48_211), '48.2 kB'],
    [bytes(20_000_000), '20 MB'],
    [durationText(0), 'under 1 min'],
    [durationText(59 * 60_000), '59 min'],
    [durationText(5.5 * 3_600_000), '5 h 30 min'],
    [durationText(76 * 3_600_000), '3 d 4 h'],
    [durationText(40 * 86_400_000), '40 d'],
    [shortDay('2026-03-04'), '4 Mar'],
    [instant(new Date('2026-03-04T05:06:59.999Z')), '2026-03-04 05:06 UTC'],
  ])('read %s', (found, wanted) => {
    expect(plain(found)).toBe(wanted);
  });

  it('count days in UTC, over the ends of months and years', () => {
    expect(lastDays(3, new Date('2027-01-01T23:59:59.999Z'))).toEqual(['2026-12-30', '2026-12-31', '2027-01-01']);
    expect(lastDays(2, new Date('2028-03-01T00:00:00Z'))).toEqual(['2028-02-29', '2028-03-01']);
  });
});
