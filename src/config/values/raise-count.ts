/** Checks `raise_count_to` against the endpoint's contract and the `count` of the first request. */
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { ReportProblem } from '../document/problem.ts';
import { fieldShape } from '../request-fields.ts';
import { entryOf, type Tree } from '../document/tree.ts';

const KEY = 'raise_count_to';

/** True if requests of the endpoint have a `count`, so that more items can be requested. */
export const takesCount = ({ request }: Endpoint): boolean => Object.hasOwn(request.shape, 'count');

/** The limit of the sync, or undefined if there is none or a problem was reported. */
export function raiseCountToOf(
  endpoint: Endpoint,
  sync: Tree,
  bound: number | undefined,
  request: RequestBody,
  report: ReportProblem,
): number | undefined {
  const at = entryOf(sync, KEY);
  if (!at || bound === undefined) return undefined;
  if (!takesCount(endpoint)) {
    report(at.keySpan, `${endpoint.name} has no count to raise; remove ${KEY}`);
    return undefined;
  }
  const { maximum = Number.MAX_SAFE_INTEGER } = fieldShape(endpoint, 'count');
  const { count } = request;
  const least = typeof count === 'number' ? count : 1;
  if (bound >= least && bound <= maximum) return bound;
  const words = [
    `a whole number of at least ${least}${typeof count === 'number' ? ', the count of the first request' : ''}`,
    ...(maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}, the limit of ${endpoint.name}`]),
  ];
  report(at.value.span, `${KEY} is ${bound}; allowed is ${words.join(typeof count === 'number' ? ', and ' : ' and ')}`);
  return undefined;
}
