/**
 * How answers lead to further requests. Each strategy is a pure function from the steps so far to the next requests:
 * none, the next page, or the parts of a request whose answer was full.
 */
import { addDays, DAY_MS } from '../day.ts';
import type { RequestBody } from './request-body.ts';
import type { Evidence, WindowFields } from './window/evidence.ts';
import { facetSplits, type FacetSplit, type SplitBy } from './window/facet-splits.ts';

/** A request and the items of its answer, as far as the strategy reads them. */
export interface PageStep {
  readonly request: RequestBody;
  readonly items: readonly unknown[];
  /** Cursor paging only: when the run began, RFC 3339. The next run reads rows that started later. */
  readonly runStartedAt?: string;
}

/** The sync's permissions for a full answer, and the evidence of earlier answers. */
export interface FollowOptions {
  readonly splitBy?: SplitBy;
  /** The greatest count with which a request may be repeated after a full answer. */
  readonly raiseCountTo?: number | undefined;
  /**
   * Window paging only: the window of the sync. Without it, the dates of a request are fixed, and only facets split it.
   */
  readonly window?: object | undefined;
  /** Window paging only: the evidence from the slices so far, this answer included. */
  readonly evidence?: Evidence | undefined;
  /** The evidence proved wrong. Then a window is requested before it is split, and it is split into halves. */
  readonly isMisled?: boolean;
}

export interface Follow {
  readonly requests: readonly RequestBody[];
  /** Why the answer may be incomplete, if no further request can help. */
  readonly lowerBound?: string;
  /** The estimated number of requests for all parts and, for a window, its estimated number of items. */
  readonly estimate?: { readonly requests: number; readonly items?: number };
}

export interface Paging {
  readonly by: 'once' | 'count' | 'cursor' | 'window';
  /** Request fields that the strategy sets, each with the reason why a sync may not set it, and what it can set instead. */
  readonly ownFields: Readonly<Record<string, string>>;
  /** Window paging only: the request fields of the first and last day, and the item fields that show days and kinds. */
  readonly days?: Days;
  /** The request fields of the first and last instant to return. */
  readonly times?: Pick<WindowFields, 'from' | 'to'>;
  /** The list field in which a minus sign excludes a value, so that one request can ask for all other values. */
  readonly remainder?: string | undefined;
  /** The fields of an item that the strategy reads. Without them it reads only the number of items. */
  readonly itemFields?: readonly string[];
  /** Never throws. `steps` are one walk, oldest first. Only cursor paging reads more than the last step. */
  readonly follow: (steps: readonly PageStep[], ways: FollowOptions) => Follow;
  /**
   * The parts to request instead of a request whose answer is likely full; undefined if it is better to send the
   * request.
   */
  readonly splitBefore?: (request: RequestBody, ways: FollowOptions) => Follow | undefined;
}

/** The request fields of a date window, and the time zone of its days. */
export interface Days extends WindowFields {
  /** IANA name of the source's time zone. */
  readonly timeZone: string;
}

/** The day, YYYY-MM-DD, at an instant in a time zone. */
export function dayIn(timeZone: string, instant: Date): string {
  const format =
    dayFormats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  dayFormats.set(timeZone, format);
  return format.format(instant);
}

/** The newest day up to this one that has ended in a time zone. */
export function lastEndedDay(timeZone: string, last: string, now: Date): string {
  const yesterday = addDays(dayIn(timeZone, now), -1);
  return last < yesterday ? last : yesterday;
}

/** The instant at which a day, YYYY-MM-DD, ends in a time zone. */
export function endOfDayIn(timeZone: string, day: string): Date {
  const known = dayEnds.get(`${timeZone} ${day}`);
  if (known !== undefined) return new Date(known);
  const start = Date.parse(`${day}T00:00:00Z`);
  // In every time zone, a day ends between these two instants.
  let [before, after] = [start + DAY_MS / 4, start + 2 * DAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayIn(timeZone, new Date(middle)) > day) after = middle;
    else before = middle;
  }
  dayEnds.set(`${timeZone} ${day}`, after);
  return new Date(after);
}

const dayEnds = new Map<string, number>();

/** Cached, since creating a format takes fifty times as long as using it. */
const dayFormats = new Map<string, Intl.DateTimeFormat>();

/** The follow-up of an answer with room. */
export const NO_FOLLOW_UP: Follow = { requests: [] };

/** True if the answer has at least the requested number of items, so that there may be more. */
export const isFull = ({ request, items }: PageStep): boolean =>
  typeof request['count'] === 'number' && items.length >= request['count'];

/** One request, one answer. */
export const singlePage: Paging = { by: 'once', ownFields: {}, follow: () => NO_FOLLOW_UP };

/**
 * An answer capped at `count`, without a second page. If it is full, the request is repeated with a greater count and
 * then in parts, as far as the sync allows.
 */
export const cappedBy = (remainder?: string): Paging => ({
  by: 'count',
  ownFields: {},
  remainder,
  follow: (steps, ways) => {
    const last = steps.at(-1);
    if (!last || !isFull(last)) return NO_FOLLOW_UP;
    return (
      raised(last.request, ways) ?? splitByFacet(cheapest(facetSplits(last.request, ways.splitBy ?? {}, remainder)))
    );
  },
});

/** Capped answers of endpoints without a field that excludes values. */
export const cappedByCount = cappedBy();

/**
 * The factor between counts. Each full answer on the way is paid for nothing; a greater factor may request far more
 * than exists.
 */
const RAISED_TIMES = 4;

/** The same request with the next greater count; undefined if the sync allows none. */
export function raised(request: RequestBody, { raiseCountTo }: FollowOptions): Follow | undefined {
  const [, next] = typeof request['count'] === 'number' ? countsUpTo(request['count'], raiseCountTo) : [];
  return next === undefined ? undefined : { requests: [{ ...request, count: next }], estimate: { requests: 1 } };
}

/** The counts with which a request is repeated, in order, as long as its answers are full. */
export function countsUpTo(count: number, raiseCountTo = count): readonly number[] {
  const counts = [count];
  for (let last = count; last < raiseCountTo; counts.push(last)) last = Math.min(last * RAISED_TIMES, raiseCountTo);
  return counts;
}

/** Complete splits first, then those with the fewest requests. */
const cheapest = (splits: readonly FacetSplit[]): FacetSplit | undefined =>
  splits.toSorted((a, b) =>
    a.complete === b.complete ? a.requests.length - b.requests.length : a.complete ? -1 : 1,
  )[0];

const NOTHING_LEFT = 'as many items as requested, and no field left to split it by';

/** True if a slice is a lower bound for this reason because the sync could not split it. */
export const isUnsplit = (reason: string | null): boolean => reason === NOTHING_LEFT;

/** The parts of a split by a facet, or the reason why there are none. */
export function splitByFacet(split: FacetSplit | undefined): Follow {
  if (!split) return { requests: [], lowerBound: NOTHING_LEFT };
  const { field, requests, complete } = split;
  const estimate = { requests: requests.length };
  return complete
    ? { requests, estimate }
    : {
        requests,
        estimate,
        lowerBound: `as many items as requested, and ${field} has more values than it is split by`,
      };
}
