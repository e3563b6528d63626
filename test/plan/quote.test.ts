/** The requests and the cost of a plan, and their confidence. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planTasks } from '../../src/plan/plan.ts';
import { learnPrices, type PriceBook } from '../../src/plan/pricing/price-book.ts';
import type { PriceSample } from '../../src/plan/pricing/price-model.ts';
import { type Pace, type QuotedQuestion, QuestionTotals, quoteOf, totalQuote } from '../../src/plan/pricing/quote.ts';
import type { Task } from '../../src/plan/task.ts';
import { type Price, pointsFor } from '../../src/service/endpoint.ts';
import { countOf } from '../support/long.ts';
import { syncOf } from './sync.ts';

const PACE = { requestsPerSecond: 4 };
const posts = planTasks(
  syncOf('photoshare.user.posts', { request: { count: 25 } }),
  [{ user: 'a' }, { user: 'b' }, { user: 'c' }],
  { today: '2024-01-01' },
);
const never = () => false;
const guessed = (price: Price) => learnPrices(price, []);
const PER_TWELVE: Price = { points: 1, per: 12 };
const NOTHING = { low: 0, likely: 0, high: 0, most: 0, mostPoints: 0, samples: 0 };

/** The quote of requests without follow-up requests. */
const quoted = (
  tasks: readonly Task[],
  isFresh: (key: string) => boolean,
  prices: PriceBook,
  mayGrow: boolean,
  pace: Pace,
) => {
  const open = tasks.filter(({ requestKey }) => !isFresh(requestKey)).map(({ request }) => ({ open: [request] }));
  return quoteOf(tasks.length, totalsOf(open), prices, mayGrow, pace);
};

function totalsOf(questions: readonly QuotedQuestion[], limit?: number): QuestionTotals {
  const totals = new QuestionTotals(limit);
  questions.forEach((question) => totals.add(question));
  return totals;
}

const pointsOf = (questions: readonly QuotedQuestion[], prices: PriceBook, limit?: number) =>
  totalsOf(questions, limit).points(prices);

const answered = (returned: number, price: Price, asked?: number): PriceSample => ({
  asked,
  returned,
  outcome: 'answered',
  points: pointsFor(price, returned),
});

describe('a quote', () => {
  it('counts requests, the points they may cost, and the least time they take', () => {
    expect(quoted(posts, never, guessed(PER_TWELVE), false, PACE)).toEqual({
      requests: 3,
      fresh: 0,
      low: 3,
      likely: 9,
      high: 9,
      most: 9,
      mostPoints: 9,
      mostRequests: 3,
      confidence: 'guess',
      samples: 0,
      mayGrow: false,
      leastMs: 500,
    });
    expect(quoted(posts, never, guessed({ points: 2 }), true, PACE)).toMatchObject({ mostPoints: 6, mayGrow: true });
  });

  it('leaves out what is fresh', () => {
    const fresh = posts[1]?.requestKey;
    const prices = guessed(PER_TWELVE);
    expect(quoted(posts, (key) => key === fresh, prices, false, PACE)).toMatchObject({
      requests: 3,
      fresh: 1,
      low: 2,
      most: 6,
      mostPoints: 6,
      leastMs: 250,
    });
    const all = { requests: 3, fresh: 3, ...NOTHING, mayGrow: false, leastMs: 0 };
    expect(quoted(posts, () => true, prices, true, PACE)).toMatchObject(all);
  });

  it('of nothing is nothing', () => {
    const none = { requests: 0, fresh: 0, ...NOTHING, mayGrow: false, leastMs: 0 };
    expect(quoted([], never, guessed({ points: 1 }), true, PACE)).toMatchObject(none);
  });

  it('is exact where every call was seen to cost the same', () => {
    const prices = learnPrices(
      PER_TWELVE,
      Array.from({ length: 30 }, (_, at) => answered(1 + at * 40, { points: 4 })),
    );
    expect(quoted(posts, never, prices, false, PACE)).toMatchObject({
      low: 12,
      likely: 12,
      high: 12,
      most: 12,
      confidence: 'good',
      samples: 30,
    });
  });

  it('keeps prices that are not integers', () => {
    expect(quoted(posts, never, guessed({ points: 0.5 }), false, PACE)).toMatchObject({
      low: 1,
      likely: 1.5,
      high: 1.5,
      most: 1.5,
    });
  });

  it('of several syncs adds up at the pace that they share, and has the confidence of the least confident', () => {
    const learned = learnPrices(
      { points: 1 },
      Array.from({ length: 4 }, () => answered(1, { points: 1 })),
    );
    const one = { ...quoted(posts, never, learned, false, PACE), endpoint: 'photoshare.user.posts' };
    const first = posts[0]?.requestKey;
    const other = { ...quoted(posts, (key) => key === first, learned, true, PACE), endpoint: one.endpoint };
    const total = { requests: 6, fresh: 1, low: 5, likely: 5, high: 5, most: 5, mostPoints: 5, mayGrow: true };
    expect(totalQuote([one, other], PACE)).toMatchObject({ ...total, leastMs: 1000, confidence: 'some', samples: 4 });
    const free = { ...quoted(posts, never, guessed({ points: 0 }), false, PACE), endpoint: 'token.requests' };
    expect(totalQuote([one, free], PACE)).toMatchObject({ confidence: 'some', samples: 4 });
    const guess = { ...quoted(posts, never, guessed({ points: 1 }), false, PACE), endpoint: 'pronet.group' };
    expect(totalQuote([one, guess], PACE)).toMatchObject({ confidence: 'guess', samples: 4, most: 6 });
    expect(totalQuote([], PACE)).toMatchObject({ requests: 0, leastMs: 0, confidence: 'good' });
  });
});

describe('the quote of a question that may be requested in parts', () => {
  const PER_REQUEST = guessed({ points: 2 });
  const question = (more: Partial<QuotedQuestion> = {}): QuotedQuestion => ({
    open: [{ count: 10 }],
    most: new Map([[10, 4]]),
    ...more,
  });

  it('ranges from one request to all parts as long as it was never requested', () => {
    expect(pointsOf([question(), question()], PER_REQUEST)).toMatchObject({ low: 4, high: 16, most: 16 });
    expect(quoteOf(5, totalsOf([question(), question()]), PER_REQUEST, false, PACE)).toMatchObject({
      requests: 5,
      fresh: 3,
      mostRequests: 8,
      mayGrow: false,
    });
  });

  it('expects the requests of the last run, and promises no less than all parts', () => {
    const planned = question({ usual: [10, 10, 10] });
    expect(pointsOf([planned], PER_REQUEST)).toMatchObject({ low: 6, likely: 6, high: 6, most: 8 });
  });

  it('expects parts to have as many items as parts had, not as the full answer that was split', () => {
    const full = [{ asked: 1000, returned: 1000, times: 1 }];
    const partCounts = [{ asked: 1000, returned: 60, times: 6 }];
    const prices = { ...learnPrices({ points: 1, per: 10 }, [], full), partCounts };
    const split = question({ open: [{ count: 1000 }], most: new Map([[1000, 7]]), usual: [1000] });
    const parts = Array.from({ length: 6 }, () => 1000);
    const likely = 100 + 6 * 6;
    expect(pointsOf([{ ...split, usualParts: parts }], prices)).toMatchObject({ low: likely, likely, high: likely });
    expect(pointsOf([{ ...split, usualParts: parts }], prices, 3)).toMatchObject({ likely: 100 + 2 * 6 });
  });

  it('has a wider range if the number of parts is estimated from other days', () => {
    const usualParts = Array.from({ length: 16 }, () => 10);
    const split = question({ most: new Map([[10, 40]]), usual: [10], usualParts });
    expect(pointsOf([split], PER_REQUEST)).toMatchObject({ low: 34, likely: 34, high: 34, most: 80 });
    const estimated = pointsOf([{ ...split, isEstimated: true }], PER_REQUEST);
    expect(estimated).toMatchObject({ low: 20, likely: 34, high: 48, most: 80 });
  });

  it('adds up parts with larger counts at their price', () => {
    const raised = question({
      most: new Map([
        [10, 1],
        [40, 3],
      ]),
    });
    expect(pointsOf([raised], guessed({ points: 1, per: 10 }))).toMatchObject({ most: 1 + 3 * 4 });
  });

  it('counts no more requests than a sample may send, the most expensive ones first', () => {
    const raised = question({
      most: new Map([
        [10, 1],
        [40, 3],
      ]),
      usual: [10, 10, 40],
    });
    const totals = totalsOf([question({ open: [{ count: 10 }, { count: 10 }, { count: 10 }] }), raised], 2);
    expect(quoteOf(2, totals, guessed({ points: 1, per: 10 }), false, PACE)).toMatchObject({
      requests: 2,
      mostRequests: 2,
      most: 8,
      high: 5,
    });
    expect(pointsOf([question()], PER_REQUEST, 3)).toMatchObject({ low: 2, high: 6, most: 6 });
  });
});

describe('the range of a quote', () => {
  const PER_TEN: Price = { points: 1, per: 10 };
  const asking = (requests: number) => Array.from({ length: requests }, () => ({ open: [{ count: 100 }] }));
  /** Numbers from 0 to 1 that look drawn, and are the same each time. */
  const drawn = (seed: number): (() => number) => {
    let state = seed;
    return () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
  };

  it('holds the sum nine times in ten, and is far narrower than what is possible', () => {
    const draw = drawn(4711);
    const count = () => Math.floor(100 * draw() ** 3);
    let held = 0;
    let width = 0;
    const rounds = countOf(100, 400);
    for (let round = 0; round < rounds; round += 1) {
      const log = Array.from({ length: 60 }, () => answered(count(), PER_TEN, 100));
      const { low, high, most } = pointsOf(asking(50), learnPrices(PER_TEN, log));
      const spent = Array.from({ length: 50 }, () => pointsFor(PER_TEN, count())).reduce((sum, it) => sum + it, 0);
      if (spent >= low && spent <= high) held += 1;
      width += (high - low) / (most - 50);
    }
    expect(held / rounds).toBeGreaterThan(0.85);
    expect(held / rounds).toBeLessThan(0.96);
    expect(width / rounds).toBeLessThan(0.25);
  });

  it('is in order whatever the log says: low, likely, high, most', () => {
    const sample = fc.record({
      asked: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
      returned: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
      outcome: fc.constantFrom('answered' as const, 'missing' as const, 'failed' as const),
      points: fc.integer({ min: 0, max: 50 }),
    });
    fc.assert(
      fc.property(
        fc.array(sample, { maxLength: 40 }),
        fc.array(fc.option(fc.integer({ min: 1, max: 500 })), { maxLength: 20 }),
        (log, counts) => {
          const questions = counts.map((count) => ({ open: [count === null ? {} : { count }] }));
          const { low, likely, high, most } = pointsOf(questions, learnPrices(PER_TEN, log));
          expect([low, likely, high, most]).toEqual([low, likely, high, most].toSorted((a, b) => a - b));
          expect(low).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
