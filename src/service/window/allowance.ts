/**
 * The most requests that a question may lead to, whatever its answers are. A plan quotes them, and a run splits a question
 * only into parts that are allowed no more together.
 */
import type { RequestBody } from '../request-body.ts';
import { windowOf } from './evidence.ts';
import { countsUpTo, type Paging, type FollowOptions } from '../paging.ts';
import { facetsOf, type SplitBy } from './facet-splits.ts';

/** Requests by the `count` that they ask for, the question itself included. */
export type Allowance = ReadonlyMap<number | undefined, number>;

/**
 * A window of days is halved at most down to single days, so a tree over `d` days has `2d - 1` requests; each day that is
 * full is split by facets. Any of these questions may be asked with smaller counts before. Undefined for a walk, whose end
 * is known only when it is reached.
 */
export function allowanceOf(paging: Paging, request: RequestBody, ways: FollowOptions): Allowance | undefined {
  if (paging.by === 'cursor') return undefined;
  const count = request['count'];
  if (typeof count !== 'number') return new Map([[undefined, 1]]);
  if (paging.by === 'once') return new Map([[count, 1]]);
  const window = paging.days && windowOf(request, paging.days);
  const days = window ? window.to - window.from + 1 : 1;
  const allowed = new Map<number | undefined, number>(countsUpTo(count, ways.raiseCountTo).map((it) => [it, days]));
  const [largest] = [...allowed.keys()].slice(-1);
  return allowed.set(largest, days - 1 + days * ofFacets(request, ways.splitBy ?? {}, paging.days !== undefined));
}

/** The requests of a question without days, with one for the question itself. */
function ofFacets(request: RequestBody, splitBy: SplitBy, mayGroup: boolean): number {
  const facets = facetsOf(request, splitBy);
  // Where values share no part, a question is split first by what leaves nothing over, then by what takes the fewest.
  if (!mayGroup) facets.sort((a, b) => (a.complete === b.complete ? a.parts - b.parts : a.complete ? -1 : 1));
  let [requests, narrowest] = [1, 1];
  for (const { parts } of facets) {
    // Parts that hold several values may be split again, so they make a tree.
    requests += narrowest * (mayGroup && parts > 1 ? 2 * parts - 2 : parts);
    narrowest *= parts;
  }
  return requests;
}

/** The sum of an allowance. */
export const requestsOf = (allowance: Allowance): number =>
  [...allowance.values()].reduce((sum, requests) => sum + requests, 0);

/** True of parts that are allowed no more requests together than their question is, less one when it was asked. */
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
