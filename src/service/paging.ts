/**
 * How answers lead to more requests. Each strategy is one pure function from the steps walked so far to the requests
 * that follow the last of them: none, the next page, or the parts of a question whose answer was full.
 */
import type { RequestBody } from './request-body.ts';
import { firstPart, predictionOf } from './window/first-part.ts';
import { dayText } from './day.ts';
import { type Evidence, evidence, type WindowFields, windowOf } from './window/evidence.ts';
import { facetSplits, type FacetSplit, type SplitBy } from './window/facet-splits.ts';

/** A request and the items that it brought. */
export interface PageStep {
  readonly request: RequestBody;
  readonly items: readonly unknown[];
  /** Of a walk: when its run began, RFC 3339. What started later is the next run's. */
  readonly runStartedAt?: string;
}

/** What a sync allows when an answer is full, and what is known of its question. */
export interface FollowOptions {
  readonly splitBy?: SplitBy;
  /** The greatest count that a full answer may be asked again with. */
  readonly raiseCountTo?: number | undefined;
  /** Of a window: what its slices told so far, this answer included. */
  readonly evidence?: Evidence | undefined;
  /** What the evidence says proved wrong: windows are then asked before they are split, and split into halves. */
  readonly isMisled?: boolean;
}

export interface Follow {
  readonly requests: readonly RequestBody[];
  /** Why the last answer may not be all there is, when nothing more can be asked. */
  readonly lowerBound?: string;
  /** The requests that all parts come to as things look, and of a window the items that it is taken to hold. */
  readonly estimate?: { readonly requests: number; readonly items?: number };
}

export interface Paging {
  readonly by: 'once' | 'count' | 'cursor' | 'window';
  /** Request fields that the strategy fills in; a sync may not set them. */
  readonly ownFields: readonly string[];
  /** Of a window: the request fields that hold its first and last day, and where items show what they are. */
  readonly days?: Days;
  /** Throws nothing. `steps` are one walk, oldest first; only a cursor looks further back than the last. */
  readonly follow: (steps: readonly PageStep[], ways: FollowOptions) => Follow;
  /** The parts to ask in place of a question whose answer would likely be full; undefined when it is best asked. */
  readonly splitBefore?: (request: RequestBody, ways: FollowOptions) => Follow | undefined;
}

/** The request fields of a date window, and where its days begin and end. */
export interface Days extends WindowFields {
  /** IANA name of the source's time zone. */
  readonly timeZone: string;
}

/** The day, YYYY-MM-DD, that it is at an instant in a time zone. */
export function dayIn(timeZone: string, at: Date): string {
  const format =
    dayFormats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  dayFormats.set(timeZone, format);
  return format.format(at);
}

/** Kept, since to make one takes fifty times as long as to use it. */
const dayFormats = new Map<string, Intl.DateTimeFormat>();

const DONE: Follow = { requests: [] };

/** True of an answer with as many items as were asked for: there may be more. */
export const isFull = ({ request, items }: PageStep): boolean =>
  typeof request['count'] === 'number' && items.length >= request['count'];

/** One request, one answer. */
export const singlePage: Paging = { by: 'once', ownFields: [], follow: () => DONE };

/** An answer capped at `count` and no second page; a full one is asked again with more, then in parts, where the sync says so. */
export const cappedByCount: Paging = {
  by: 'count',
  ownFields: [],
  follow: (steps, ways) => {
    const last = steps.at(-1);
    if (!last || !isFull(last)) return DONE;
    return raised(last.request, ways) ?? divided(cheapest(facetSplits(last.request, ways.splitBy ?? {})));
  },
};

/** A full answer's date window is asked again in parts, down to one day; then in parts by lists. */
export const window = (at: Days): Paging => ({
  by: 'window',
  ownFields: [],
  days: at,
  follow: (steps, ways) => {
    const last = steps.at(-1);
    if (!last || !isFull(last)) return DONE;
    const told = ways.evidence ?? evidenceOf(last, at);
    return raised(last.request, ways) ?? cut(last.request, at, told, ways) ?? divided(divisions(last, told, ways)[0]);
  },
  splitBefore: (request, ways) => {
    const { evidence: told, raiseCountTo = 0 } = ways;
    const days = windowOf(request, at);
    if (!told || !days || typeof request['count'] !== 'number' || told.isNarrower(request)) return undefined;
    if (ways.isMisled === true) return undefined;
    // A rate that was seen elsewhere says little of far more days than it was seen on; one answer says more.
    if (told.density.isUncharted(days.from, days.to)) return undefined;
    const most = Math.max(request['count'], raiseCountTo);
    const { chanceFull } = predictionOf(told.density.guesses(days.from, days.to), most);
    if (days.from < days.to) return chanceFull > 0.5 ? cut(request, at, told, ways, most) : undefined;
    const [first] = divisions({ request, items: [] }, told, ways);
    // Parts that leave something over don't stand for the whole; and a day that is not full after all is one request.
    return first?.complete === true && chanceFull > 1 - 1 / first.requests.length ? divided(first) : undefined;
  },
});

/** Each time a full answer costs its price for nothing; more at once may ask for far more than there is. */
const RAISED_TIMES = 4;

function raised(request: RequestBody, { raiseCountTo }: FollowOptions): Follow | undefined {
  const [, next] = typeof request['count'] === 'number' ? countsUpTo(request['count'], raiseCountTo) : [];
  return next === undefined ? undefined : { requests: [{ ...request, count: next }], estimate: { requests: 1 } };
}

/** The counts that a question is asked with, one after the other, as long as its answers are full. */
export function countsUpTo(count: number, raiseCountTo = count): readonly number[] {
  const counts = [count];
  for (let last = count; last < raiseCountTo; counts.push(last)) last = Math.min(last * RAISED_TIMES, raiseCountTo);
  return counts;
}

function evidenceOf(last: PageStep, at: Days): Evidence {
  const told = evidence(last.request, at);
  told.learn({ request: last.request, returned: last.items.length, full: true, items: last.items });
  return told;
}

/**
 * The first part of a window's days that an answer has room for, and the rest; undefined when there is one day or no
 * window. The rest stays whole until its turn comes: parts can be cut then by what is known by then, and never merged.
 */
function cut(
  request: RequestBody,
  at: Days,
  told: Evidence,
  { isMisled = false }: FollowOptions,
  most = Number(request['count']),
): Follow | undefined {
  const days = windowOf(request, at);
  if (!days || days.from >= days.to) return undefined;
  const { from, to } = days;
  const guesses = told.density.guesses(from, to);
  const isFromEnd = told.density.knowsEndBetter(from, to);
  const first = isMisled
    ? { days: Math.ceil((to - from + 1) / 2), parts: 2 }
    : firstPart(isFromEnd ? guesses.toReversed() : guesses, most);
  const part = (begin: number, end: number): RequestBody => ({
    ...request,
    [at.from]: dayText(begin),
    [at.to]: dayText(end),
  });
  return {
    requests: isFromEnd
      ? [part(to - first.days + 1, to), part(from, to - first.days)]
      : [part(from, from + first.days - 1), part(from + first.days, to)],
    estimate: { items: predictionOf(guesses, most).items, requests: first.parts },
  };
}

/** A full answer holds a little more than was returned, at the least. */
const AT_LEAST = 1.15;

/** The divisions of one day, or of a question without days: in them values share parts by what was seen of their shares. */
function divisions({ request, items }: PageStep, told: Evidence, ways: FollowOptions): FacetSplit[] {
  const { splitBy = {}, raiseCountTo = 0 } = ways;
  const count = Math.max(Number(request['count']), raiseCountTo);
  const predicted = Math.max(told.expectedItems(request), items.length * AT_LEAST);
  return facetSplits(request, splitBy, { mix: told.mix, count, predicted, sample: items });
}

/** First what leaves nothing over, then what takes the fewest requests. */
const cheapest = (divisions: readonly FacetSplit[]): FacetSplit | undefined =>
  divisions.toSorted((a, b) =>
    a.complete === b.complete ? a.requests.length - b.requests.length : a.complete ? -1 : 1,
  )[0];

function divided(division: FacetSplit | undefined): Follow {
  if (!division) return { requests: [], lowerBound: 'as many items as asked for, and nothing left to split it by' };
  const { field, requests, complete } = division;
  const estimate = { requests: requests.length };
  return complete
    ? { requests, estimate }
    : {
        requests,
        estimate,
        lowerBound: `as many items as asked for, and ${field} has more values than it is split by`,
      };
}
