/** Waits: never zero, never endless, and as long as the service requested, if it did. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryPolicy } from '../../src/extract/retry.ts';
import { backoffMs, boundedRetryAfterMs, retryAfterMs } from '../../src/extract/wait.ts';

const { waits } = retryPolicy(2);
const AT = new Date('2026-01-05T12:00:00.000Z');

describe('a Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['1.5', 1500],
    ['Mon, 05 Jan 2026 12:00:30 GMT', 30_000],
    ['Monday, 05-Jan-26 12:01:00 GMT', 60_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
  ])('%j is %d ms', (header, ms) => {
    expect(retryAfterMs(header, AT)).toBe(ms);
  });

  it.each([undefined, '', 'soon', '-5', '5, 5', '1e9', '0x10', 'Jan 5', 'Mon, 99 Jan 2026 12:00:30 GMT', 'NaN'])(
    '%j says nothing',
    (header) => {
      expect(retryAfterMs(header, AT)).toBeUndefined();
    },
  );
});

describe('a wait', () => {
  it('is drawn below a bound that doubles up to the longest', () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((number) => backoffMs(number, waits, () => 1));
    expect(bounds).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(backoffMs(5, waits, () => 0.5)).toBe(8000);
    expect(backoffMs(5, waits, () => 0)).toBe(waits.minMs);
  });

  it('is what the service requested and a little more, up to the cap', () => {
    expect(boundedRetryAfterMs(20_000, waits, () => 0)).toBe(20_000);
    expect(boundedRetryAfterMs(20_000, waits, () => 0.5)).toBe(20_500);
    expect(boundedRetryAfterMs(0, waits, () => 0)).toBe(waits.minMs);
    expect(boundedRetryAfterMs(Number.POSITIVE_INFINITY, waits, () => 1)).toBe(301_000);
  });

  it('is within its bounds, whatever the header says', () => {
    const header = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.bigInt({ min: 0n, max: 10n ** 400n }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(header, fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1 }), (text, drawn, number) => {
        const requestedMs = retryAfterMs(text, AT);
        const ms =
          requestedMs === undefined
            ? backoffMs(number, waits, () => drawn)
            : boundedRetryAfterMs(requestedMs, waits, () => drawn);
        expect(ms).toBeGreaterThanOrEqual(waits.minMs);
        expect(ms).toBeLessThanOrEqual(waits.maxRetryAfterMs + waits.firstMs);
      }),
    );
  });
});
