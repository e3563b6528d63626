/** The times that cron expressions name. */
import { describe, expect, it } from 'vitest';
import { cronOf } from '../../src/config/values/cron.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('cron', () => {
  it.each([
    [
      '15 6 * * 1-5',
      {
        minutes: [15],
        hours: [6],
        daysOfMonth: range(1, 31),
        months: range(1, 12),
        daysOfWeek: [1, 2, 3, 4, 5],
        eitherDay: false,
      },
    ],
    [
      '*/20 0-6/3 1,15 JAN-mar 7',
      {
        minutes: [0, 20, 40],
        hours: [0, 3, 6],
        daysOfMonth: [1, 15],
        months: [1, 2, 3],
        daysOfWeek: [0],
        eitherDay: true,
      },
    ],
    [
      '5/25 * 31 * *',
      {
        minutes: [5, 30, 55],
        hours: range(0, 23),
        daysOfMonth: [31],
        months: range(1, 12),
        daysOfWeek: range(0, 6),
        eitherDay: false,
      },
    ],
    [
      ' 0  0\t29 2 * ',
      { minutes: [0], hours: [0], daysOfMonth: [29], months: [2], daysOfWeek: range(0, 6), eitherDay: false },
    ],
    ['0 0 31 2 sun', { minutes: [0], hours: [0], daysOfMonth: [31], months: [2], daysOfWeek: [0], eitherDay: true }],
    [
      '1,1,1-2 * * * mon-fri',
      {
        minutes: [1, 2],
        hours: range(0, 23),
        daysOfMonth: range(1, 31),
        months: range(1, 12),
        daysOfWeek: [1, 2, 3, 4, 5],
        eitherDay: false,
      },
    ],
  ])('reads %j', (text, cron) => {
    expect(cronOf(text)).toEqual(cron);
  });

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1/2/3 * * * *',
    '1-2-3 * * * *',
    ', * * * *',
    '-1 * * * *',
    '@daily',
    '* * * foo *',
    '1.5 * * * *',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
  ])('refuses %j', (text) => {
    expect(typeof cronOf(text)).toBe('string');
  });
});
