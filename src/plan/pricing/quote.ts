/** The expected requests and cost of a sync, before any point is spent. */
import { type Allowance, requestsOf } from '../../service/window/allowance.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { countOf } from '../../service/endpoint.ts';
import { expectedSizeOf } from './expected-size.ts';
import { maxPointsOf, type PriceBook, type Confidence } from './price-book.ts';
import type { Task } from '../task.ts';

/** The points that requests may cost, without repetitions and without pages of the log. */
export interface PointsQuote {
  /** The cost is between `low` and `high` with 90% probability, if the log continues as before. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** The most that they can cost, with all parts of full answers. */
  readonly most: number;
  readonly sure: Confidence;
  /** The number of log rows that the prices are based on. */
  readonly samples: number;
}

export interface Quote extends PointsQuote {
  /** Requests in the plan. */
  readonly requests: number;
  /** Requests that a stored answer within `max_age` serves; they are not bought again. */
  readonly fresh: number;
  /** Equal to `most`. */
  readonly mostPoints: number;
  /** The most requests that may be sent, with all parts of full answers. */
  readonly mostRequests: number;
  /** True if pages of the log lead to further requests, which the figures do not include. */
  readonly mayGrow: boolean;
  /** The minimum time to send the requests at the allowed rate. */
  readonly leastMs: number;
}

export interface Pace {
  readonly requestsPerSecond: number;
}

/** Half the width of the 90% interval, in standard deviations. */
const NINE_IN_TEN = 1.645;

/**
 * The points that these tasks may cost. Costs of requests vary independently. The error of the mean affects all of them
 * together if it is based on few answers.
 */
export function pointsQuoteOf(tasks: readonly Pick<Task, 'request'>[], prices: PriceBook): PointsQuote {
  const groups = Map.groupBy(tasks, ({ request }) => countOf(request));
  let [likely, least, most, below, variance, sharedError] = [0, 0, 0, 0, 0, 0];
  for (const [asked, { length }] of groups) {
    const expected = expectedSizeOf(prices, asked);
    likely += length * expected.mean;
    least += length * expected.least;
    most += length * maxPointsOf(prices, asked);
    // Without earlier answers, any count up to the requested one is equally likely.
    if (expected.answers === 0) below += length * (expected.mean - expected.least);
    else sharedError += length * Math.sqrt(expected.variance / expected.answers);
    variance += length * expected.variance;
  }
  const margin = NINE_IN_TEN * Math.sqrt(variance + sharedError ** 2);
  const high = Math.min(most, roundedBy(Math.ceil, likely + margin));
  return {
    low: Math.min(high, roundedBy(Math.floor, Math.max(least, likely - below - margin))),
    likely: Math.min(high, roundedBy(Math.round, likely)),
    high,
    most,
    sure: prices.sure,
    samples: prices.samples,
  };
}

/** A question of a plan that needs requests. */
export interface QuotedQuestion {
  /** The known first requests to send. */
  readonly open: readonly RequestBody[];
  /** The most requests that may be sent; undefined if they are unbounded. */
  readonly most?: Allowance;
  /** The `count` of each request of the question's last run; undefined if its answers may or may not be full. */
  readonly usual?: readonly (number | undefined)[];
}

/**
 * The points that these questions may cost. A question that ran before is expected to need as many requests again. For
 * another question, each number from one request to all its parts is equally likely.
 */
export function questionsQuoteOf(questions: readonly QuotedQuestion[], prices: PriceBook): PointsQuote {
  const isOpen = (it: QuotedQuestion): boolean =>
    it.usual === undefined && it.most !== undefined && requestsOf(it.most) > it.open.length;
  const requests = (group: readonly QuotedQuestion[]): { readonly request: RequestBody }[] =>
    group.flatMap(
      ({ open, usual }) => usual?.map((count) => ({ request: { count } })) ?? open.map((request) => ({ request })),
    );
  const known = pointsQuoteOf(requests(questions.filter((it) => !isOpen(it))), prices);
  const unknown = pointsQuoteOf(requests(questions.filter(isOpen)), prices);
  const mostOfOne = ({ open, most }: QuotedQuestion): number =>
    [...(most ?? open.map((request) => [countOf(request), 1] as const))].reduce(
      (sum, [count, times]) => sum + times * maxPointsOf(prices, count),
      0,
    );
  const sum = (group: readonly QuotedQuestion[]): number => group.reduce((total, it) => total + mostOfOne(it), 0);
  const most = sum(questions);
  const high = Math.min(most, known.high + sum(questions.filter(isOpen)));
  const likely = Math.min(high, known.likely + unknown.likely);
  return { ...known, low: Math.min(likely, known.low + unknown.low), likely, high, most };
}

/** Rounded, without the rounding errors of binary fractions. */
const roundedBy = (round: (value: number) => number, points: number): number => round(Math.round(points * 1e6) / 1e6);

/**
 * The quote of a sync: `planned` is the number of requests in its plan, and `questions` are those that still need
 * requests.
 */
export function quoteOf(
  planned: number,
  questions: readonly QuotedQuestion[],
  prices: PriceBook,
  mayGrow: boolean,
  pace: Pace,
): Quote {
  const open = questions.reduce((sum, it) => sum + it.open.length, 0);
  const fresh = planned - questions.length;
  const points = questionsQuoteOf(questions, prices);
  return {
    requests: fresh + open,
    fresh,
    ...points,
    mostPoints: points.most,
    mostRequests: questions.reduce((sum, it) => sum + (it.most ? requestsOf(it.most) : it.open.length), 0),
    mayGrow: mayGrow && questions.length > 0,
    leastMs: leastMs(open, pace),
  };
}

/**
 * The quote of all syncs of a run, which share the rate limit. Its confidence is the lowest of all syncs that cost
 * points.
 */
export function totalQuote(quotes: readonly (Quote & { readonly endpoint: string })[], pace: Pace): Quote {
  const sum = (valueOf: (quote: Quote) => number): number => quotes.reduce((total, it) => total + valueOf(it), 0);
  const [requests, fresh] = [sum((it) => it.requests), sum((it) => it.fresh)];
  const paid = quotes.filter(({ most }) => most > 0);
  // Syncs of one endpoint use the same rows.
  const byEndpoint = new Map(paid.map(({ endpoint, samples }) => [endpoint, samples]));
  return {
    requests,
    fresh,
    low: sum((it) => it.low),
    likely: sum((it) => it.likely),
    high: sum((it) => it.high),
    most: sum((it) => it.most),
    sure: LEAST_SURE.find((sure) => paid.some((it) => it.sure === sure)) ?? 'good',
    samples: [...byEndpoint.values()].reduce((total, it) => total + it, 0),
    mostPoints: sum((it) => it.mostPoints),
    mostRequests: sum((it) => it.mostRequests),
    mayGrow: quotes.some((it) => it.mayGrow),
    leastMs: leastMs(requests - fresh, pace),
  };
}

const LEAST_SURE: readonly Confidence[] = ['guess', 'some', 'good'];

/** The first request does not wait. */
const leastMs = (requests: number, { requestsPerSecond }: Pace): number =>
  Math.ceil((Math.max(0, requests - 1) * 1000) / requestsPerSecond);
