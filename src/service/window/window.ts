/**
 * Splits a window of days so that each answer has room for its items, with few requests. The model in short:
 *
 * 1. A complete answer gives the items of its days (`known-days.ts`), and their dates the rhythm of a week (`rhythm.ts`).
 * 2. An unknown day holds about as many items as the nearest known ranges before and after it (`rates.ts`).
 * 3. A full answer holds at least its items. Its dates show which days are complete, if they are in order, and which days
 *    are busy, if they are not (`full-answer.ts`). `density.ts` combines 1 to 3 to an estimate with a variance per day.
 * 4. A window whose estimate exceeds one answer is not sent. Its first part is split off: the days with the most items
 *    per expected request (`first-part.ts`). The rest waits for better estimates.
 * 5. A day that exceeds one answer is split by kinds. Kinds share a part by their shares so far (`mix.ts`,
 *    `facet-splits.ts`).
 *
 * Estimates decide how a window is split, never what is complete: `allowance.ts` limits the requests whatever they say.
 */
import { dayText, lengthOf } from '../../day.ts';
import {
  type Days,
  NO_FOLLOW_UP,
  type Follow,
  type FollowOptions,
  isFull,
  type PageStep,
  type Paging,
  raised,
  splitByFacet,
} from '../paging.ts';
import type { RequestBody } from '../request-body.ts';
import { Evidence, windowOf } from './evidence.ts';
import { type FacetSplit, facetSplits } from './facet-splits.ts';
import { firstPart, predictionOf } from './first-part.ts';
import { AT_LEAST } from './full-answer.ts';
import type { ItemEstimate } from './rates.ts';

/**
 * A date window. If an answer is full, the days of a sync with a window are split down to one day, and then by facets.
 * Fixed dates are split by facets only.
 */
export const window = (remainder: string | undefined, fields: Days): Paging => ({
  by: 'window',
  ownFields: {},
  days: fields,
  remainder,
  itemFields: [fields.day, ...Object.values(fields.kinds)],
  follow: (steps, ways) => {
    const last = steps.at(-1);
    if (!last || !isFull(last)) return NO_FOLLOW_UP;
    const known = ways.evidence ?? evidenceOf(last, fields);
    return (
      raised(last.request, ways) ??
      (ways.window &&
        splitDays(last.request, fields, known, {
          most: Number(last.request['count']),
          isMisled: ways.isMisled === true,
        })) ??
      splitByFacet(facetSplitsOf(last, remainder, known, ways)[0])
    );
  },
  splitBefore: (request, ways) => {
    const { evidence: known, raiseCountTo = 0 } = ways;
    const days = windowOf(request, fields);
    if (!known || !days || typeof request['count'] !== 'number' || known.isNarrower(request)) return undefined;
    if (ways.isMisled === true) return undefined;
    // A rate says little about a range far longer than the days it was observed on. One request says more.
    if (known.density.isUncharted(days)) return undefined;
    const most = Math.max(request['count'], raiseCountTo);
    const guesses = known.density.guesses(days);
    const { chanceFull } = predictionOf(guesses, most);
    const split = { most, isMisled: false, guesses };
    if (days.from < days.to)
      return ways.window && chanceFull > 0.5 ? splitDays(request, fields, known, split) : undefined;
    const [first] = facetSplitsOf({ request, items: [] }, remainder, known, ways);
    // Parts with a remainder cannot replace the request. If the day is not full after all, one request is enough.
    return first?.complete === true && chanceFull > 1 - 1 / first.requests.length ? splitByFacet(first) : undefined;
  },
});

function evidenceOf(last: PageStep, fields: Days): Evidence {
  const known = new Evidence(last.request, fields);
  known.learn({ request: last.request, returned: last.items.length, full: true, items: last.items });
  return known;
}

interface DaySplit {
  /** The most items of an answer. */
  readonly most: number;
  /** True if the estimates proved wrong, so that the days are halved. */
  readonly isMisled: boolean;
  /** The estimates of the days, if the caller has them. */
  readonly guesses?: readonly ItemEstimate[];
}

/**
 * The first part of a window that fits in one answer, and the rest; undefined without a window of at least two days.
 * The rest is split later, with the evidence that exists when it is due, because parts cannot be merged.
 */
function splitDays(request: RequestBody, fields: Days, known: Evidence, split: DaySplit): Follow | undefined {
  const days = windowOf(request, fields);
  if (!days || days.from >= days.to) return undefined;
  const { from, to } = days;
  const { most, isMisled, guesses = known.density.guesses(days) } = split;
  const isFromEnd = known.density.knowsEndBetter(days);
  const first = isMisled
    ? { days: Math.ceil(lengthOf(days) / 2), parts: 2 }
    : firstPart(isFromEnd ? guesses.toReversed() : guesses, most);
  const part = (begin: number, end: number): RequestBody => ({
    ...request,
    [fields.from]: dayText(begin),
    [fields.to]: dayText(end),
  });
  return {
    requests: isFromEnd
      ? [part(to - first.days + 1, to), part(from, to - first.days)]
      : [part(from, from + first.days - 1), part(from + first.days, to)],
    estimate: { items: predictionOf(guesses, most).items, requests: first.parts },
  };
}

/**
 * The splits by facet of one day, or of a request without days. In a day, values share a part according to their
 * observed shares.
 */
function facetSplitsOf(
  { request, items }: PageStep,
  remainder: string | undefined,
  known: Evidence,
  ways: FollowOptions,
): FacetSplit[] {
  const { splitBy = {}, raiseCountTo = 0 } = ways;
  const count = Math.max(Number(request['count']), raiseCountTo);
  const predicted = Math.max(known.expectedItems(request), items.length * AT_LEAST);
  return facetSplits(request, splitBy, remainder, { mix: known.mix, count, predicted, sample: items });
}
