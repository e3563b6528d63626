/** Figures as the page writes them. */
import { describe, expect, it } from 'vitest';
import {
  bytes,
  compact,
  counted,
  grouped,
  instant,
  lastDays,
  milliseconds,
  share,
  shortDay,
  span,
} from '../../src/report/figures.ts';

const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

describe('figures', () => {
  it.each([
    [grouped(0), '0'],
    [grouped(1_234_567.891), '1,234,567.89'],
    [grouped(-1234), '\u22121,234'],
    [counted(1, 'point'), '1 point'],
    [counted(2, 'entry', 'entries'), '2 entries'],
    [compact(9_500), '9,500'],
    [compact(20_000), '20k'],
    [compact(1_500_000), '1.5M'],
    [share(1), '100 %'],
    [share(0.99999), '> 99.9 %'],
    [share(0.00001), '< 0.1 %'],
    [share(0), '0 %'],
    [share(0.1234), '12.3 %'],
    [milliseconds(0), '0 ms'],
    [milliseconds(850), '850 ms'],
    [milliseconds(4_230), '4.2 s'],
    [milliseconds(301_000), '301 s'],
    [bytes(0), '0 B'],
    [bytes(999), '999 B'],
    [bytes(48_211), '48.2 kB'],
    [bytes(20_000_000), '20 MB'],
    [span(0), 'under 1 min'],
    [span(59 * 60_000), '59 min'],
    [span(5.5 * 3_600_000), '5 h 30 min'],
    [span(76 * 3_600_000), '3 d 4 h'],
    [span(40 * 86_400_000), '40 d'],
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
