/** What a plan would ask and cost. */
import { describe, expect, it } from 'vitest';
import { planTasks } from '../../src/plan/plan.ts';
import { quoteOf, totalQuote } from '../../src/plan/quote.ts';
import { syncOf } from './sync.ts';

const PACE = { requestsPerSecond: 4 };
const posts = planTasks(
  syncOf('photoshare.user.posts', { request: { count: 25 } }),
  [{ user: 'a' }, { user: 'b' }, { user: 'c' }],
  { today: '2024-01-01' },
);
const never = () => false;

describe('a quote', () => {
  it('counts requests, the most points they can cost, and the least time they take', () => {
    expect(quoteOf(posts, never, { points: 1, per: 12 }, false, PACE)).toEqual({
      requests: 3,
      fresh: 0,
      mostPoints: 9,
      mayGrow: false,
      leastMs: 500,
    });
    expect(quoteOf(posts, never, { points: 2 }, true, PACE)).toMatchObject({ mostPoints: 6, mayGrow: true });
  });

  it('leaves out what is fresh', () => {
    const fresh = posts[1]?.requestKey;
    expect(quoteOf(posts, (key) => key === fresh, { points: 1, per: 12 }, false, PACE)).toEqual({
      requests: 3,
      fresh: 1,
      mostPoints: 6,
      mayGrow: false,
      leastMs: 250,
    });
    expect(quoteOf(posts, () => true, { points: 1, per: 12 }, true, PACE)).toEqual({
      requests: 3,
      fresh: 3,
      mostPoints: 0,
      mayGrow: false,
      leastMs: 0,
    });
  });

  it('of nothing is nothing', () => {
    expect(quoteOf([], never, { points: 1 }, true, PACE)).toEqual({
      requests: 0,
      fresh: 0,
      mostPoints: 0,
      mayGrow: false,
      leastMs: 0,
    });
  });

  it('of several syncs adds up, at the pace that they share', () => {
    const one = quoteOf(posts, never, { points: 1 }, false, PACE);
    const other = quoteOf(posts, (key) => key === posts[0]?.requestKey, { points: 1 }, true, PACE);
    expect(totalQuote([one, other], PACE)).toEqual({
      requests: 6,
      fresh: 1,
      mostPoints: 5,
      mayGrow: true,
      leastMs: 1000,
    });
    expect(totalQuote([], PACE)).toMatchObject({ requests: 0, leastMs: 0 });
  });
});
