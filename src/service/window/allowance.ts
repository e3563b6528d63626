/**
 * The maximum number of requests for a question, whatever its answers are. Plans quote it, and a run splits a question
 * only into parts that together need no more.
 */
import { lengthOf } from '../../day.ts';
import type { RequestBody } from '../request-body.ts';
import { windowOf } from './evidence.ts';
import { countsUpTo, type Paging, type FollowOptions } from '../paging.ts';
import { facetSplits, type SplitBy } from './facet-splits.ts';

/** Requests by their `count`, the question itself included. */
export type Allowance = ReadonlyMap<number | undefined, number>;

/**
 * Allowed requests by count; undefined for cursor paging, whose end is unknown in advance. In the worst case, the `d` days
 * of a window are halved down to single days, which makes a tree of `2d - 1` requests, and each full day is split by facets.
 * Each smaller count that is tried first is allowed one request per day. Fixed dates of a sync without a window are
 * requested as one day would be.
 */
export function allowanceOf(paging: Paging, request: RequestBody, ways: FollowOptions): Allowance | undefined {
  if (paging.by === 'cursor') return undefined;
  const count = request['count'];
  if (typeof count !== 'number') return new Map([[undefined, 1]]);
  if (paging.by === 'once') return new Map([[count, 1]]);
  const window = ways.window && paging.days && windowOf(request, paging.days);
  const days = window ? lengthOf(window) : 1;
  const allowed = new Map<number | undefined, number>(countsUpTo(count, ways.raiseCountTo).map((it) => [it, days]));
  const [largest] = [...allowed.keys()].slice(-1);
  return allowed.set(largest, days - 1 + days * ofFacets(request, ways.splitBy ?? {}, paging));
}

/** The requests of a question without days, including the question itself. */
function ofFacets(request: RequestBody, splitBy: SplitBy, { days, remainder }: Paging): number {
  const facets = facetSplits(request, splitBy, remainder).map(({ requests: { length: parts }, complete }) => ({
    parts,
    complete,
  }));
  const mayGroup = days !== undefined;
  // If values do not share parts, complete splits come first, then those with the fewest parts.
  if (!mayGroup) facets.sort((a, b) => (a.complete === b.complete ? a.parts - b.parts : a.complete ? -1 : 1));
  let [requests, narrowest] = [1, 1];
  for (const { parts } of facets) {
    // Parts with several values can be split again, so they form a tree.
    requests += narrowest * (mayGroup && parts > 1 ? 2 * parts - 2 : parts);
    narrowest *= parts;
  }
  return requests;
}

/** The total of an allowance. */
export const requestsOf = (allowance: Allowance): number =>
  [...allowance.values()].reduce((sum, requests) => sum + requests, 0);

/** True if the parts need no more requests than the question has left. A question that was sent has used one. */
export function isAllowed(
  paging: Paging,
  { request, isAsked }: { readonly request: RequestBody; readonly isAsked: boolean },
  parts: readonly RequestBody[],
  ways: FollowOptions,
): boolean {
  const most = (question: RequestBody): number => {
    const allowance = allowanceOf(paging, question, ways);
    return allowance ? requestsOf(allowance) : Number.POSITIVE_INFINITY;
  };
  return parts.reduce((sum, part) => sum + most(part), isAsked ? 1 : 0) <= most(request);
}
