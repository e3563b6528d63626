/** What a sync would ask and cost, told before anything is spent. */
import { type Allowance, requestsOf } from '../../service/window/allowance.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { countOf } from '../../service/endpoint.ts';
import { expectedSizeOf } from './expected-size.ts';
import { maxPointsOf, type PriceBook, type Confidence } from './price-book.ts';
import type { Task } from '../task.ts';

/** Points that requests may cost, each sent once; pages of the log are left out. */
export interface PointsQuote {
  /** Nine times in ten they cost from `low` to `high`, if the log goes on as it did. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** The most that they can cost, with all parts of full answers. */
  readonly most: number;
  readonly sure: Confidence;
  /** Rows of the log that the prices were learned from. */
  readonly samples: number;
}

export interface Quote extends PointsQuote {
  /** Requests in the plan. */
  readonly requests: number;
  /** Of these, answered within `max_age` already: not bought again. */
  readonly fresh: number;
  /** The same as `most`. */
  readonly mostPoints: number;
  /** The most requests that may be sent, with all parts of full answers. */
  readonly mostRequests: number;
  /** Pages of the log lead to further requests, which the figures leave out. */
  readonly mayGrow: boolean;
  /** The least time that the pace allows for sending them. */
  readonly leastMs: number;
}

export interface Pace {
  readonly requestsPerSecond: number;
}

/** Half of the range in which nine of ten sums fall, in standard deviations. */
const NINE_IN_TEN = 1.645;

/**
 * The points that these tasks may cost. Requests vary each on their own, and all together as far as the mean itself is
 * known from few answers only.
 */
export function pointsQuoteOf(tasks: readonly Pick<Task, 'request'>[], prices: PriceBook): PointsQuote {
  const groups = Map.groupBy(tasks, ({ request }) => countOf(request));
  let [likely, least, most, below, variance, together] = [0, 0, 0, 0, 0, 0];
  for (const [asked, { length }] of groups) {
    const outlook = expectedSizeOf(prices, asked);
    likely += length * outlook.mean;
    least += length * outlook.least;
    most += length * maxPointsOf(prices, asked);
    // Nothing tells how full such answers are: any count up to the one asked for is as good.
    if (outlook.answers === 0) below += length * (outlook.mean - outlook.least);
    else together += length * Math.sqrt(outlook.variance / outlook.answers);
    variance += length * outlook.variance;
  }
  const margin = NINE_IN_TEN * Math.sqrt(variance + together ** 2);
  const high = Math.min(most, whole(Math.ceil, likely + margin));
  return {
    low: Math.min(high, whole(Math.floor, Math.max(least, likely - below - margin))),
    likely: Math.min(high, whole(Math.round, likely)),
    high,
    most,
    sure: prices.sure,
    samples: prices.samples,
  };
}

/** A question of a plan that needs requests. */
export interface QuotedQuestion {
  /** The requests that are to be sent first, as far as can be known now. */
  readonly open: readonly RequestBody[];
  /** The most that may be sent; undefined where nothing bounds them. */
  readonly most?: Allowance;
  /** What its last run sent, as the `count` of each request; undefined of one whose answers may or may not be full. */
  readonly usual?: readonly (number | undefined)[];
}

/**
 * The points that these questions may cost. A question that was asked before is expected to take as many requests again.
 * Of another, anything from one request to all its parts is as likely.
 */
export function questionsQuoteOf(questions: readonly QuotedQuestion[], prices: PriceBook): PointsQuote {
  const isOpen = (it: QuotedQuestion): boolean =>
    it.usual === undefined && it.most !== undefined && requestsOf(it.most) > it.open.length;
  const requests = (of: readonly QuotedQuestion[]): { readonly request: RequestBody }[] =>
    of.flatMap(
      ({ open, usual }) => usual?.map((count) => ({ request: { count } })) ?? open.map((request) => ({ request })),
    );
  const known = pointsQuoteOf(requests(questions.filter((it) => !isOpen(it))), prices);
  const unknown = pointsQuoteOf(requests(questions.filter(isOpen)), prices);
  const mostOfOne = ({ open, most }: QuotedQuestion): number =>
    [...(most ?? open.map((request) => [countOf(request), 1] as const))].reduce(
      (sum, [count, times]) => sum + times * maxPointsOf(prices, count),
      0,
    );
  const sum = (of: readonly QuotedQuestion[]): number => of.reduce((total, it) => total + mostOfOne(it), 0);
  const most = sum(questions);
  const high = Math.min(most, known.high + sum(questions.filter(isOpen)));
  const likely = Math.min(high, known.likely + unknown.likely);
  return { ...known, low: Math.min(likely, known.low + unknown.low), likely, high, most };
}

/** Rounded, but for the crumbs that binary fractions leave. */
const whole = (round: (value: number) => number, points: number): number => round(Math.round(points * 1e6) / 1e6);

/** The quote of a sync that has so many requests in its plan, and of them these questions to ask. */
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

/** The quote of all the syncs of a run, which share the pace. It is as sure as the least sure that costs anything. */
export function totalQuote(quotes: readonly (Quote & { readonly endpoint: string })[], pace: Pace): Quote {
  const sum = (of: (quote: Quote) => number): number => quotes.reduce((total, it) => total + of(it), 0);
  const [requests, fresh] = [sum((it) => it.requests), sum((it) => it.fresh)];
  const paid = quotes.filter(({ most }) => most > 0);
  // Syncs of one endpoint learn from the same rows.
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

/** The first request waits for nothing. */
const leastMs = (requests: number, { requestsPerSecond }: Pace): number =>
  Math.ceil((Math.max(0, requests - 1) * 1000) / requestsPerSecond);
