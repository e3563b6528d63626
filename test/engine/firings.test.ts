/** At which times a schedule fires. */
import { describe, expect, it } from 'vitest';
import { firingsOf } from '../../src/engine/firings.ts';

const firings = (cron: string, timezone: string, after: string, most = 3): string[] =>
  firingsOf({ cron, timezone }, new Date(after), most).map((at) => at.toISOString());

describe('firings', () => {
  it('go by the time zone, over the ends of weeks and of daylight saving time', () => {
    expect(firings('15 6 * * 1-5', 'America/New_York', '2026-03-06T12:00:00Z')).toEqual([
      '2026-03-09T10:15:00.000Z',
      '2026-03-10T10:15:00.000Z',
      '2026-03-11T10:15:00.000Z',
    ]);
    expect(firings('15 6 * * 1-5', 'America/New_York', '2026-03-05T11:15:00Z', 1)).toEqual([
      '2026-03-06T11:15:00.000Z',
    ]);
  });

  it('happen once a day also when daylight saving time begins, an hour later, and ends, in the first of two hours', () => {
    expect(firings('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(firings('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(firings('30 * * * *', 'Europe/Berlin', '2026-10-24T23:45:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
  });

  it.each([
    ['0 23 * * *', 'America/Nuuk', '2026-03-28T01:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']],
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T16:00:00Z',
      ['2026-10-03T15:45:00.000Z', '2026-10-04T15:15:00.000Z'],
    ],
    [
      '30 2 * * *',
      'Antarctica/Troll',
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30:00.000Z', '2026-10-26T02:30:00.000Z'],
    ],
    ['45 23 * * *', 'Africa/Cairo', '2026-10-29T12:00:00Z', ['2026-10-29T20:45:00.000Z', '2026-10-30T21:45:00.000Z']],
  ])('of %j happen once a day in %s', (cron, timezone, after, expected) => {
    expect(firings(cron, timezone, after, 2)).toEqual(expected);
  });

  it('match one of the two kinds of days if both are written', () => {
    expect(firings('0 0 13 * 5', 'UTC', '2026-03-06T12:00:00Z', 3)).toEqual([
      '2026-03-13T00:00:00.000Z',
      '2026-03-20T00:00:00.000Z',
      '2026-03-27T00:00:00.000Z',
    ]);
    expect(firings('0 0 13 * 5', 'UTC', '2026-04-10T12:00:00Z', 1)).toEqual(['2026-04-13T00:00:00.000Z']);
  });

  it('of an expression that another version wrote are none', () => {
    expect(firings('@daily', 'UTC', '2026-03-06T12:00:00Z')).toEqual([]);
  });

  it.each([
    ['Europe/Berlin', '2026-03-28T12:00:00Z'],
    ['America/Nuuk', '2026-03-27T12:00:00Z'],
    ['Europe/Berlin', '2026-10-24T12:00:00Z'],
    ['America/New_York', '2026-03-07T12:00:00Z'],
    ['America/New_York', '2026-10-31T12:00:00Z'],
    ['Africa/Cairo', '2026-04-23T12:00:00Z'],
    ['Antarctica/Troll', '2026-03-28T12:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T02:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T02:00:00Z'],
  ])('are the same one after the other as together, in %s after %s', (timezone, after) => {
    for (const cron of ['0 2 * * *', '15 2 * * *', '*/30 2 * * *', '5-59/10 2 * * *', '0 */2 * * *', '*/15 * * * *']) {
      const together = firings(cron, timezone, after, 100);
      const single: string[] = [];
      while (single.length < 100) single.push(...firings(cron, timezone, single.at(-1) ?? after, 1));
      expect(single, cron).toEqual(together);
    }
  });

  it('of a rare day are years apart', () => {
    expect(firings('0 0 29 2 *', 'UTC', '2026-03-06T12:00:00Z', 2)).toEqual([
      '2028-02-29T00:00:00.000Z',
      '2032-02-29T00:00:00.000Z',
    ]);
  });
});
