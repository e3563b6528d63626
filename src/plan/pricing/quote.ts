/** The expected requests and cost of a sync, before any point is spent. */
import { type Allowance, requestsOf } from '../../service/window/allowance.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { countOf } from '../../service/endpoint.ts';
import { expectedSizeOf } from './expected-size.ts';
import { maxPointsOf, type PriceBook, type Confidence } from './price-book.ts';

/** The points that requests may cost, without repetitions and without pages of the log. */
export interface PointsQuote {
  /** The cost is between `low` and `high` with 90% probability, if the log continues as before. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** The most that they can cost, with all parts of full answers. */
  readonly most: number;
  readonly confidence: Confidence;
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

/** Numbers of requests by their `count`. */
type Counts = ReadonlyMap<number | undefined, number>;

/**
 * The points that these requests may cost. Costs of requests vary independently. The error of the mean affects all of
 * them together if it is based on few answers.
 */
function pointsQuoteOf(requests: Counts, prices: PriceBook): PointsQuote {
  let [likely, least, most, below, variance, sharedError] = [0, 0, 0, 0, 0, 0];
  for (const [count, number] of requests) {
    const expected = expectedSizeOf(prices, count);
    likely += number * expected.mean;
    least += number * expected.least;
    most += number * maxPointsOf(prices, count);
    // Without earlier answers, any count up to the requested one is equally likely.
    if (expected.answers === 0) below += number * (expected.mean - expected.least);
    else sharedError += number * Math.sqrt(expected.variance / expected.answers);
    variance += number * expected.variance;
  }
  const margin = NINE_IN_TEN * Math.sqrt(variance + sharedError ** 2);
  const high = Math.min(most, roundedBy(Math.ceil, likely + margin));
  return {
    low: Math.min(high, roundedBy(Math.floor, Math.max(least, likely - below - margin))),
    likely: Math.min(high, roundedBy(Math.round, likely)),
    high,
    most,
    confidence: prices.confidence,
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
  /** The `count` of each part that was requested in that run. */
  readonly usualParts?: readonly (number | undefined)[];
  /** True if the number of parts is estimated, because the last run requested other days. */
  readonly isEstimated?: boolean;
}

/** Adds up questions of a plan, so that their quote needs a few numbers instead of the questions. */
export class QuestionTotals {
  /** Questions that need requests. */
  questions = 0;
  /** The run sends at most this many requests, with the parts of full answers. */
  readonly #limit: number;
  #openRequests = 0;
  #mostRequests = 0;
  /** The most requests by their `count`. */
  readonly #most = new Map<number | undefined, number>();
  /** Requests of questions that ran before or cannot be split, and the parts of those that were split. */
  readonly #known = new Map<number | undefined, number>();
  readonly #parts = new Map<number | undefined, number>();
  /** Parts whose number is estimated. */
  #estimatedParts = 0;
  /** First requests of questions that may be split and never ran, and the most requests of these questions. */
  readonly #unknown = new Map<number | undefined, number>();
  readonly #unknownMost = new Map<number | undefined, number>();

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Known first requests to send. */
  get openRequests(): number {
    return Math.min(this.#openRequests, this.#limit);
  }

  /** The most requests that may be sent. */
  get mostRequests(): number {
    return Math.min(this.#mostRequests, this.#limit);
  }

  add({ open, most, usual, usualParts = [], isEstimated = false }: QuotedQuestion): void {
    const counts = open.map(countOf);
    const isUnknown = usual === undefined && most !== undefined && requestsOf(most) > open.length;
    this.questions += 1;
    this.#openRequests += open.length;
    this.#mostRequests += most ? requestsOf(most) : open.length;
    for (const count of usual ?? counts) increase(isUnknown ? this.#unknown : this.#known, count, 1);
    for (const count of usualParts) increase(this.#parts, count, 1);
    if (isEstimated) this.#estimatedParts += usualParts.length;
    for (const [count, number] of most ?? counts.map((count) => [count, 1] as const)) {
      increase(this.#most, count, number);
      if (isUnknown) increase(this.#unknownMost, count, number);
    }
  }

  /**
   * The points that the questions may cost. A question that ran before is expected to need as many requests again. For
   * another question, each number from one request to all its parts is equally likely.
   */
  points(prices: PriceBook): PointsQuote {
    const pointsOf = (requests: Counts): number =>
      [...requests].reduce((sum, [count, number]) => sum + number * maxPointsOf(prices, count), 0);
    const knownCounts = largest(this.#known, this.#limit);
    const partCounts = largest(this.#parts, this.#limit - numberOf(knownCounts));
    const left = this.#limit - numberOf(knownCounts) - numberOf(partCounts);
    const known = pointsQuoteOf(knownCounts, prices);
    const parts = this.#quoteOfParts(partCounts, prices);
    const unknown = pointsQuoteOf(largest(this.#unknown, left), prices);
    const most = pointsOf(largest(this.#most, this.#limit));
    const high = Math.min(most, known.high + parts.high + pointsOf(largest(this.#unknownMost, left)));
    const likely = Math.min(high, known.likely + parts.likely + unknown.likely);
    return { ...known, low: Math.min(likely, known.low + parts.low + unknown.low), likely, high, most };
  }

  /** Assumed: an estimated number of parts varies as independent events do, because it follows the items on these days. */
  #quoteOfParts(counts: Counts, prices: PriceBook): PointsQuote {
    const quote = pointsQuoteOf(counts, { ...prices, recentCounts: prices.partCounts ?? prices.recentCounts });
    const each = quote.likely / Math.max(1, numberOf(counts));
    const margin = NINE_IN_TEN * Math.sqrt(this.#estimatedParts) * each;
    return {
      ...quote,
      low: roundedBy(Math.floor, Math.max(0, quote.low - margin)),
      high: roundedBy(Math.ceil, quote.high + margin),
    };
  }
}

/** At most `limit` of the requests: those with the largest `count`, because the most expensive ones may be sent first. */
function largest(requests: Counts, limit: number): Counts {
  let left = limit;
  const sorted = [...requests].toSorted(([a = 0], [b = 0]) => b - a);
  return new Map(
    sorted.map(([count, number]) => {
      const taken = Math.min(number, left);
      left -= taken;
      return [count, taken];
    }),
  );
}

const numberOf = (counts: Counts): number => [...counts.values()].reduce((sum, number) => sum + number, 0);

function increase(counts: Map<number | undefined, number>, count: number | undefined, by: number): void {
  counts.set(count, (counts.get(count) ?? 0) + by);
}

/** Rounded, without the rounding errors of binary fractions. */
const roundedBy = (round: (value: number) => number, points: number): number => round(Math.round(points * 1e6) / 1e6);

/**
 * The quote of a sync: `planned` is the number of requests in its plan, and `totals` are those of the questions that
 * still need requests.
 */
export function quoteOf(
  planned: number,
  totals: QuestionTotals,
  prices: PriceBook,
  mayGrow: boolean,
  pace: Pace,
): Quote {
  const { questions, openRequests, mostRequests } = totals;
  const fresh = planned - questions;
  const points = totals.points(prices);
  return {
    requests: fresh + openRequests,
    fresh,
    ...points,
    mostPoints: points.most,
    mostRequests,
    mayGrow: mayGrow && questions > 0,
    leastMs: leastMs(openRequests, pace),
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
    confidence: LEAST_CONFIDENT.find((confidence) => paid.some((it) => it.confidence === confidence)) ?? 'good',
    samples: [...byEndpoint.values()].reduce((total, it) => total + it, 0),
    mostPoints: sum((it) => it.mostPoints),
    mostRequests: sum((it) => it.mostRequests),
    mayGrow: quotes.some((it) => it.mayGrow),
    leastMs: leastMs(requests - fresh, pace),
  };
}

const LEAST_CONFIDENT: readonly Confidence[] = ['guess', 'some', 'good'];

/** The first request does not wait. */
const leastMs = (requests: number, { requestsPerSecond }: Pace): number =>
  Math.ceil((Math.max(0, requests - 1) * 1000) / requestsPerSecond);
