/** The cron expressions that a schedule accepts: exactly those that another reader accepts, in the documented notation. */
import { CronExpressionParser } from 'cron-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCron } from '../../src/config/values/cron.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

function isRead(text: string): boolean {
  try {
    return CronExpressionParser.parse(text).hasNext();
  } catch {
    return false;
  }
}

describe('cron', () => {
  it.each([
    ['15 6 * * 1-5', [15], [6], undefined, range(1, 12), [1, 2, 3, 4, 5]],
    ['*/20 0-6/3 1,15 JAN-mar 7', [0, 20, 40], [0, 3, 6], [1, 15], [1, 2, 3], [0]],
    ['5/25 * 31 * *', [5, 30, 55], range(0, 23), [31], range(1, 12), undefined],
    [' 0  0\t29 2 * ', [0], [0], [29], [2], undefined],
    ['0 0 31 2 sun', [0], [0], [31], [2], [0]],
    ['1-2,5 * * * mon-fri', [1, 2, 5], range(0, 23), undefined, range(1, 12), [1, 2, 3, 4, 5]],
  ])('reads the numbers of %j', (text, minutes, hours, days, months, weekdays) => {
    expect(readCron(text)).toEqual({ minutes, hours, days, months, weekdays });
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
    '1,1,1-2 * * * *',
    '*,1 * * * *',
    '0 0 L * *',
    '0 0 * * 1#2',
    '? * * * *',
  ])('refuses %j', (text) => {
    expect(readCron(text)).toEqual(expect.stringMatching(/./));
  });

  const number = fc.constantFrom('0', '1', '2', '5', '7', '12', '23', '31', '59', '60', 'jan', 'MAR', 'sun', 'Fri');
  const ends = fc.oneof(
    number,
    fc.tuple(number, number).map((it) => it.join('-')),
  );
  const step = fc.constantFrom('', '', '/0', '/2', '/15');
  const list = fc.array(fc.tuple(ends, step), { minLength: 1, maxLength: 3 });
  const field = fc.oneof(
    step.map((it) => `*${it}`),
    list.map((pieces) => pieces.map((it) => it.join('')).join(',')),
  );
  const oneField = fc
    .tuple(fc.constantFrom(0, 1, 2, 3, 4), field)
    .map(([place, written]) => ['0', '0', '*', '*', '*'].with(place, written).join(' '));
  const days = fc
    .tuple(
      fc.constantFrom('*', '29', '30', '31', '*/31', '30,31'),
      fc.constantFrom('*', '2', 'apr', '4,6', '2,3', '*/12'),
      fc.constantFrom('*', '*/1', '*/2', '1', 'sun-sat', '0-7'),
    )
    .map(([day, month, weekday]) => `0 0 ${day} ${month} ${weekday}`);

  it('accepts what the other reader accepts, and nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(oneField, days), (text) => {
        expect([text, typeof readCron(text) === 'object']).toEqual([text, isRead(text)]);
      }),
      { numRuns: 2_000 },
    );
  });
});
