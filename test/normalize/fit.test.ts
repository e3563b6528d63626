/** Numbers, days and epochs: the quick way agrees with what Dates and exact integers say. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { coerceCell, coerceEpoch } from '../../src/normalize/coerce.ts';
import { parseExact } from '../../src/service/exact-json.ts';
import { countOf } from '../support/long.ts';

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

/** Microseconds of an epoch by its size; undefined of one that is none. */
function microsOf(epoch: bigint): bigint | undefined {
  if (epoch <= 0n) return undefined;
  if (epoch < 10n ** 10n) return epoch * 1_000_000n;
  if (epoch >= 10n ** 11n && epoch < 10n ** 13n) return epoch * 1000n;
  return epoch >= 10n ** 14n && epoch < 10n ** 16n ? epoch : undefined;
}

const textOf = (micros: bigint): string =>
  `${new Date(Number(micros / 1000n)).toISOString().slice(0, -1)}${String(micros % 1000n).padStart(3, '0')}Z`;

/** As the parser gives it: a number where a double holds it, else its digits. */
const sent = (epoch: bigint): unknown =>
  Number.isSafeInteger(Number(epoch)) ? Number(epoch) : JSON.rawJSON(String(epoch));

it('an epoch is an instant to the microsecond, by its size', () => {
  const edges = [10n, 11n, 13n, 14n, 16n].flatMap((power) => [-1n, 0n, 1n].map((by) => 10n ** power + by));
  const anyEpoch = fc.oneof(
    fc.constantFrom(0n, 1n, 2n ** 53n, 2n ** 63n - 1n, -1n, ...edges),
    fc.bigInt({ min: 0n, max: 10n ** 17n }),
    fc.integer({ min: 1, max: 17 }).chain((power) => fc.bigInt({ min: 0n, max: 10n ** BigInt(power) })),
  );
  fc.assert(
    fc.property(anyEpoch, (epoch) => {
      const micros = microsOf(epoch);
      expect(coerceEpoch(sent(epoch))?.at).toBe(micros === undefined ? null : textOf(micros));
      expect(String(coerceEpoch(sent(epoch))?.sent.cell)).toBe(String(epoch));
    }),
    { seed: 5, numRuns: countOf(700, 2000) },
  );
});

it('a day is one of the calendar', () => {
  for (const year of [1, 4, 99, 100, 1600, 1700, 1900, 1999, 2000, 2023, 2024, 2100, 9999])
    for (let month = 0; month <= 13; month += 1)
      for (let day = 0; day <= 32; day += 1) {
        const text = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
        const time = Date.parse(`${text}T00:00:00Z`);
        const isThere = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
        expect(coerceCell('day', text)?.cell, text).toBe(isThere ? text : undefined);
      }
  for (const text of ['', '2024', '2024-01', '2024-1-1', ' 2024-01-01', '2024-01-011', '0000-01-01'])
    expect(coerceCell('day', text)).toBeUndefined();
});

it('zero has no sign', () => {
  expect([coerceCell('integer', -0)?.cell, coerceCell('number', -0)?.cell]).toEqual([0, 0]);
});

it.each([
  ['12345678901234567890', undefined],
  ['-9007199254740993', undefined],
  ['1152921504606846976', undefined],
  ['"12345678901234567890"', undefined],
  ['"0"', 0],
  ['"-100"', -100],
  ['1e300', 1e300],
  ['-2e22', -2e22],
  ['9007199254740991', 9007199254740991],
  ['0.1234567890123456789', 0.123_456_789_012_345_68],
  ['123456789012345678901234567890.5', 1.234_567_890_123_456_8e29],
])('the number %s as a double precision is %s', (text, cell) => {
  expect(coerceCell('number', parseExact(text))?.cell).toBe(cell);
});
