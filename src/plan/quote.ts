/** What a sync would ask and cost, told before anything is spent. */
import { dearest, type Price } from '../service/endpoint.ts';
import type { Task } from './task.ts';

export interface Quote {
  /** Requests in the plan. */
  readonly requests: number;
  /** Of these, answered within `max_age` already: not bought again. */
  readonly fresh: number;
  /** The most points that the others can cost at these prices, each sent once. */
  readonly mostPoints: number;
  /** A full answer leads to further requests, which the figures leave out. */
  readonly mayGrow: boolean;
  /** The least time that the pace allows for sending them. */
  readonly leastMs: number;
}

export interface Pace {
  readonly requestsPerSecond: number;
}

/** The quote of one sync's tasks; `isFresh` tells by request key whether a stored answer serves. */
export function quoteOf(
  tasks: readonly Task[],
  isFresh: (requestKey: string) => boolean,
  price: Price,
  mayGrow: boolean,
  pace: Pace,
): Quote {
  const asked = tasks.filter(({ requestKey }) => !isFresh(requestKey));
  return {
    requests: tasks.length,
    fresh: tasks.length - asked.length,
    mostPoints: asked.reduce((sum, { request }) => sum + dearest(price, request), 0),
    mayGrow: mayGrow && asked.length > 0,
    leastMs: leastMs(asked.length, pace),
  };
}

/** The quote of all the syncs of a run, which share the pace. */
export function totalQuote(quotes: readonly Quote[], pace: Pace): Quote {
  const sum = (of: (quote: Quote) => number): number => quotes.reduce((total, it) => total + of(it), 0);
  const [requests, fresh] = [sum((it) => it.requests), sum((it) => it.fresh)];
  return {
    requests,
    fresh,
    mostPoints: sum((it) => it.mostPoints),
    mayGrow: quotes.some((it) => it.mayGrow),
    leastMs: leastMs(requests - fresh, pace),
  };
}

/** The first request waits for nothing. */
const leastMs = (requests: number, { requestsPerSecond }: Pace): number =>
  Math.ceil((Math.max(0, requests - 1) * 1000) / requestsPerSecond);
