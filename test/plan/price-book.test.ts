/** Prices learned from samples of the request log: exact where they are exact, safe where they are not known. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectedSizeOf } from '../../src/plan/pricing/expected-size.ts';
import { expectedPointsOf, learnPrices, maxPointsOf } from '../../src/plan/pricing/price-book.ts';
import { sinceChange } from '../../src/plan/pricing/price-change.ts';
import type { PriceSample } from '../../src/plan/pricing/price-model.ts';
import { type Price, pointsFor } from '../../src/service/endpoint.ts';

const A_CALL: Price = { points: 1 };
const PER_TEN: Price = { points: 1, per: 10 };

const sample = (points: number, returned?: number, asked?: number, more: Partial<PriceSample> = {}): PriceSample => ({
  asked,
  returned,
  outcome: 'answered',
  points,
  ...more,
});
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Answers of 1 to 97 items in no order, at this price. */
const mixed = (count: number, price: Price, asked?: number): PriceSample[] =>
  times(count, (at) => 1 + ((at * 37) % 97)).map((returned) => sample(pointsFor(price, returned), returned, asked));

const count = fc.integer({ min: 0, max: 300 });
const arbitrarySample: fc.Arbitrary<PriceSample> = fc.record({
  asked: fc.option(count, { nil: undefined }),
  returned: fc.option(count, { nil: undefined }),
  outcome: fc.constantFrom('answered', 'answered', 'answered', 'missing', 'failed'),
  points: fc.integer({ min: 0, max: 40 }),
  isOwn: fc.boolean(),
});
const arbitraryPrice: fc.Arbitrary<Price> = fc.oneof(
  fc.record({ points: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ points: fc.integer({ min: 1, max: 9 }), per: fc.integer({ min: 1, max: 60 }) }),
);
const arbitraryLog = fc.array(arbitrarySample, { maxLength: 60 });

describe('a price book', () => {
  it.each([A_CALL, PER_TEN])('without samples says what was guessed: %o', (guess) => {
    const book = learnPrices(guess, []);
    expect(book).toMatchObject({ confidence: 'guess', samples: 0 });
    expect([undefined, 1, 10, 11, 95].map((asked) => maxPointsOf(book, asked))).toEqual(
      [1, 1, 10, 11, 95].map((asked) => pointsFor(guess, asked)),
    );
    expect([0, 9, 25].map((returned) => expectedPointsOf(book, { asked: 100, returned }))).toEqual(
      [0, 9, 25].map((returned) => pointsFor(guess, returned)),
    );
  });

  it('learns one price for every call exactly, whatever was guessed', () => {
    fc.assert(
      fc.property(
        arbitraryPrice,
        fc.integer({ min: 0, max: 500 }),
        fc.array(
          fc.record({ asked: fc.option(count, { nil: undefined }), returned: fc.integer({ min: 1, max: 300 }) }),
          {
            minLength: 20,
            maxLength: 60,
          },
        ),
        (guess, points, calls) => {
          // Small and large, so that no price by the item fits as well.
          const shown = [{ asked: undefined, returned: 1 }, { asked: undefined, returned: 1001 }, ...calls];
          const book = learnPrices(
            guess,
            shown.map(({ asked, returned }) => sample(points, returned, asked)),
          );
          expect(book).toMatchObject({ confidence: 'good', samples: shown.length });
          expect(expectedPointsOf(book, { asked: 50, returned: 7 })).toBe(points);
          expect(maxPointsOf(book, undefined)).toBe(points);
          expect(maxPointsOf(book, 1000)).toBe(points);
        },
      ),
    );
  });

  it.each(
    [10, 12, 25].flatMap((per) =>
      [1, 3].flatMap((points) => [A_CALL, PER_TEN].map((guess) => [points, per, guess] as const)),
    ),
  )('recovers %i points for each started %i items, guessed as %o', (points, per, guess) => {
    const book = learnPrices(guess, mixed(97, { points, per }));
    expect(book).toMatchObject({ model: { by: 'returned', per, points }, confidence: 'good' });
    expect([1, 10, 11, 12, 13, 25, 26, 90].map((returned) => expectedPointsOf(book, { asked: 100, returned }))).toEqual(
      [1, 10, 11, 12, 13, 25, 26, 90].map((returned) => pointsFor({ points, per }, returned)),
    );
    expect(maxPointsOf(book, 100)).toBe(pointsFor({ points, per }, 100));
    expect(maxPointsOf(book, 1000)).toBe(pointsFor({ points, per }, 1000));
  });

  it('recovers a price by the requested items, from the rows whose request is known', () => {
    const known = times(40, (at) => {
      const asked = [20, 50, 100, 200][at % 4] as number;
      return sample(asked / 10, (at * 7) % 19, asked);
    });
    const book = learnPrices(
      PER_TEN,
      [...known, sample(5, 3), sample(10, 3), sample(20, 3)].filter((it) => it.returned !== 0),
    );
    expect(book).toMatchObject({ model: { by: 'asked', per: 10 }, confidence: 'good' });
    expect(expectedPointsOf(book, { asked: 100, returned: 2 })).toBe(10);
    expect(maxPointsOf(book, 500)).toBe(50);
  });

  it('is at the most never below what a request for as many items or fewer was seen to cost', () => {
    fc.assert(
      fc.property(arbitraryPrice, arbitraryLog, (guess, log) => {
        const book = learnPrices(guess, log);
        for (const { asked, returned, points } of sinceChange(guess, log).samples) {
          expect(maxPointsOf(book, undefined)).toBeGreaterThanOrEqual(points);
          expect(maxPointsOf(book, Math.max(asked ?? 0, returned ?? 0))).toBeGreaterThanOrEqual(points);
          if (asked !== undefined) expect(maxPointsOf(book, asked)).toBeGreaterThanOrEqual(points);
        }
      }),
    );
  });

  it('costs no less at the most for a request for more', () => {
    fc.assert(
      fc.property(arbitraryPrice, arbitraryLog, count, count, (guess, log, one, other) => {
        const book = learnPrices(guess, log);
        const [fewer, more] = [Math.min(one, other), Math.max(one, other)];
        expect(maxPointsOf(book, more)).toBeGreaterThanOrEqual(maxPointsOf(book, fewer));
        expect(Number.isFinite(maxPointsOf(book, undefined))).toBe(true);
      }),
    );
  });

  it('says finite points of any result and any log', () => {
    fc.assert(
      fc.property(arbitraryPrice, arbitraryLog, arbitrarySample, (guess, log, { asked, returned, outcome }) => {
        const book = learnPrices(guess, log);
        const outlook = expectedSizeOf(book, asked);
        for (const points of [
          expectedPointsOf(book, { asked, returned, outcome }),
          outlook.mean,
          outlook.variance,
          outlook.least,
        ])
          expect(points >= 0 && Number.isFinite(points)).toBe(true);
      }),
    );
  });

  it('is not moved by rows that are odd', () => {
    const log = mixed(100, { points: 2, per: 10 }).map((it, at) => (at % 12 === 5 ? { ...it, points: 900 } : it));
    const book = learnPrices(PER_TEN, log);
    expect(book).toMatchObject({ model: { by: 'returned', per: 10, points: 2 }, confidence: 'good' });
    expect(expectedPointsOf(book, { asked: 100, returned: 31 })).toBe(8);
    // What was charged once can be charged again.
    expect(maxPointsOf(book, 100)).toBe(900);
  });

  it('has a price for what is empty, and for what is missing', () => {
    const log = [...times(5, () => sample(0, 0)), ...times(5, () => sample(0, 0, undefined, { outcome: 'missing' }))];
    const book = learnPrices(A_CALL, [...log, ...times(10, () => sample(4, 1))]);
    expect(expectedPointsOf(book, { asked: undefined, returned: 0 })).toBe(0);
    expect(expectedPointsOf(book, { asked: undefined, returned: 0, outcome: 'missing' })).toBe(0);
    expect(expectedPointsOf(book, { asked: undefined, returned: 1 })).toBe(4);
    expect(book).toMatchObject({ missingShare: 0.25, samples: 20 });
    const nothing = learnPrices(A_CALL, []);
    expect(expectedPointsOf(nothing, { asked: undefined, returned: 0, outcome: 'missing' })).toBe(1);
  });

  it('shows the observed costs, by items requested and returned', () => {
    const log = [...times(10, (at) => sample(at + 1, 5, 50)), sample(7, 6, 50)];
    expect(learnPrices(A_CALL, log).levels).toEqual([
      { asked: 50, returned: 5, samples: 10, median: 5, mean: 5.5, low: 1, high: 9 },
      { asked: 50, returned: 6, samples: 1, median: 7, mean: 7, low: 7, high: 7 },
    ]);
  });

  it('whose samples follow no price shows the cost of the most similar ones', () => {
    // Two kinds of requests that the log does not distinguish.
    const log = times(60, (at) => sample([1, 5, 9][at % 3] as number, 1));
    const book = learnPrices(A_CALL, log);
    expect(book).toMatchObject({ model: undefined, confidence: 'some' });
    expect(expectedPointsOf(book, { asked: undefined, returned: 1 })).toBe(5);
    expect(maxPointsOf(book, undefined)).toBe(9);
    expect(expectedSizeOf(book, undefined).mean).toBe(5);
    // Twice as many items as were ever requested can cost twice as much.
    const counted = learnPrices(
      A_CALL,
      times(60, (at) => sample([1, 5, 9][at % 3] as number, 1, 40)),
    );
    expect([10, 40, 80].map((asked) => maxPointsOf(counted, asked))).toEqual([9, 9, 18]);
  });
});

describe('what was not seen yet', () => {
  it('costs as much as guessed while the samples confirm the guess', () => {
    const book = learnPrices(
      PER_TEN,
      times(50, () => sample(1, 3, 1000)),
    );
    expect(book).toMatchObject({ confidence: 'good' });
    expect(maxPointsOf(book, 1000)).toBe(100);
    expect(expectedPointsOf(book, { asked: 1000, returned: 3 })).toBe(1);
  });

  it('is as dear as guessed in shape, at the price that was seen', () => {
    expect(
      maxPointsOf(
        learnPrices(
          PER_TEN,
          times(50, () => sample(3, 8, 1000)),
        ),
        1000,
      ),
    ).toBe(300);
  });

  it('is the dearest that the samples leave possible, once they show the guess wrong', () => {
    // Up to 40 items for a point: so 41 may be two, and 1000 may be 25.
    const flat = times(50, (at) => sample(1, 1 + ((at * 7) % 40), 1000));
    expect(maxPointsOf(learnPrices(PER_TEN, flat), 1000)).toBe(25);
    expect(maxPointsOf(learnPrices(PER_TEN, [...flat, sample(1, 1000, 1000)]), 1000)).toBe(1);
  });

  it('costs as much as guessed if the log does not show the returned items', () => {
    const book = learnPrices(
      PER_TEN,
      times(50, () => sample(1)),
    );
    expect([maxPointsOf(book, 1000), expectedPointsOf(book, { asked: 1000, returned: 3 })]).toEqual([100, 1]);
    expect(maxPointsOf(learnPrices(PER_TEN, [sample(3)]), 1000)).toBe(100);
  });

  it('is not lowered by one or two samples, and raised by one', () => {
    expect(maxPointsOf(learnPrices({ points: 4 }, [sample(0, 1), sample(0, 1)]), undefined)).toBe(4);
    const raised = learnPrices({ points: 4 }, [sample(9, 1)]);
    expect(raised.confidence).toBe('guess');
    expect([maxPointsOf(raised, undefined), expectedPointsOf(raised, { asked: undefined, returned: 1 })]).toEqual([
      9, 9,
    ]);
    expect(
      maxPointsOf(
        learnPrices(
          { points: 4 },
          times(3, () => sample(0, 1)),
        ),
        undefined,
      ),
    ).toBe(0);
  });
});

describe('a price that changed', () => {
  const now = (price: Price, count: number) => mixed(count, price);

  it.each([
    [5, 3],
    [5, 20],
    [6, 995],
    [37, 960],
    [400, 600],
  ])('is the new one after %i answers at it, and %i at the old', (newer, older) => {
    for (const [from, to] of [
      [1, 3],
      [3, 1],
    ] as const) {
      const log = [...now({ points: to, per: 10 }, newer), ...now({ points: from, per: 10 }, older)];
      const book = learnPrices(PER_TEN, log);
      expect(book).toMatchObject({ model: { points: to }, samples: newer });
      expect(maxPointsOf(book, 100)).toBe(10 * to);
    }
  });

  it('of each call is learned too, and between ways to charge', () => {
    const calls = [...times(5, () => sample(7, 1)), ...times(200, () => sample(1, 1))];
    expect(learnPrices(A_CALL, calls)).toMatchObject({ model: { by: 'call', points: 7 }, samples: 5 });
    const way = [...now({ points: 3 }, 40), ...now({ points: 1, per: 10 }, 400)];
    const learned = learnPrices(PER_TEN, way);
    expect(learned).toMatchObject({ model: { by: 'call', points: 3 } });
    // Where both prices have the same result, the old one cannot be distinguished from the new one.
    expect(learned.samples).toBeGreaterThanOrEqual(40);
    expect(learned.samples).toBeLessThan(60);
  });

  it('is not learned from four answers, but what they cost can be charged again', () => {
    const book = learnPrices(A_CALL, [...times(4, () => sample(7, 1)), ...times(200, () => sample(1, 1))]);
    expect(book).toMatchObject({ model: { points: 1 }, samples: 204 });
    expect(maxPointsOf(book, undefined)).toBe(7);
  });

  it('that came back is the one of today', () => {
    const log = [10, 30, 100].map((count, at) => times(count, () => sample(at === 1 ? 5 : 2, 1))).flat();
    expect(learnPrices(A_CALL, log)).toMatchObject({ model: { points: 2 }, samples: 10 });
  });

  it('is not seen in costs that follow no price', () => {
    // Two points and one for each started ten: none of the shapes, whatever the newest five are.
    const log = times(120, (at) => 1 + ((at * 53) % 97)).map((items) => sample(2 + Math.ceil(items / 10), items, 100));
    const book = learnPrices(PER_TEN, log);
    expect(book.samples).toBe(120);
    expect(expectedPointsOf(book, { asked: 100, returned: 55 })).toBeCloseTo(8, 0);
    expect(maxPointsOf(book, 100)).toBe(12);
  });

  it('does not take what this very sync paid last for an old price', () => {
    const others = times(30, () => sample(1, 1));
    const own = times(30, () => sample(4, 1, undefined, { isOwn: true }));
    expect(maxPointsOf(learnPrices(A_CALL, [...others, ...own]), undefined)).toBe(4);
    expect(
      maxPointsOf(learnPrices(A_CALL, [...others, ...own.map((it) => ({ ...it, isOwn: false }))]), undefined),
    ).toBe(1);
  });
});

describe('the outlook of a request', () => {
  it('goes by what this sync’s answers usually hold', () => {
    const book = learnPrices(PER_TEN, mixed(97, PER_TEN), [{ asked: 1000, returned: 25, times: 4 }]);
    expect(expectedSizeOf(book, 1000)).toEqual({ mean: 3, variance: 0, least: 3, answers: 4 });
  });

  it('takes a full answer for one that would have been longer', () => {
    const book = learnPrices(
      PER_TEN,
      [],
      [
        { asked: 50, returned: 50, times: 1 },
        { asked: 50, returned: 5, times: 1 },
      ],
    );
    expect(expectedSizeOf(book, 100)).toMatchObject({ mean: 5.5, least: 1, answers: 2 });
  });

  it('uses requests for nearly as many items', () => {
    const usual = [
      { asked: 10, returned: 10, times: 50 },
      { asked: 900, returned: 90, times: 2 },
    ];
    expect(expectedSizeOf(learnPrices(PER_TEN, [], usual), 1000)).toMatchObject({ mean: 9, answers: 2 });
  });

  it('counts what is missing at its price', () => {
    const log = [...times(10, () => sample(0, 0, undefined, { outcome: 'missing' })), ...times(30, () => sample(4, 1))];
    expect(expectedSizeOf(learnPrices(A_CALL, log), undefined)).toMatchObject({ mean: 3, variance: 3, least: 0 });
  });

  it('without any answer is as full as requested', () => {
    expect(expectedSizeOf(learnPrices(PER_TEN, []), 95)).toEqual({ mean: 10, variance: 0, least: 1, answers: 0 });
  });
});
