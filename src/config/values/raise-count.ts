/** How far a full answer's `count` is raised: checked against what the endpoint takes and the config asks first. */
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { ReportProblem } from '../document/problem.ts';
import { fieldShape } from '../request-fields.ts';
import { entryOf, type Tree } from '../document/tree.ts';

const KEY = 'raise_count_to';

/** True of an endpoint that is asked for a number of items, so that it can be asked for more. */
export const takesCount = ({ request }: Endpoint): boolean => Object.hasOwn(request.shape, 'count');

/** The bound of a sync's tree, or undefined when there is none or something was reported. */
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
    report(
      at.keySpan,
      `${endpoint.name} is not asked for a number of results, so there is no count to raise; remove ${KEY}`,
    );
    return undefined;
  }
  const { maximum = Number.MAX_SAFE_INTEGER } = fieldShape(endpoint, 'count');
  const { count } = request;
  const least = typeof count === 'number' ? count : 1;
  if (bound >= least && bound <= maximum) return bound;
  const words = [
    `a whole number of at least ${least}${typeof count === 'number' ? ', the count that is asked first' : ''}`,
    ...(maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}, the most that ${endpoint.name} takes`]),
  ];
  report(at.value.span, `${KEY} is ${bound}; allowed is ${words.join(typeof count === 'number' ? ', and ' : ' and ')}`);
  return undefined;
}
