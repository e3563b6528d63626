/** A run of the planner against a world of filings, without a service and a database: the requests that it sends and leaves. */
import { Splitter } from '../../src/flow/split/splitter.ts';
import type { InputSlices } from '../../src/ledger/coverage.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { secSearchCompanies as endpoint } from '../../src/service/endpoints/sec-search-companies.ts';
import { canonicalRequest } from '../../src/service/request-key.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import { isFull } from '../../src/service/paging.ts';
import { allowanceOf, requestsOf } from '../../src/service/window/allowance.ts';
import type { SplitBy } from '../../src/service/window/facet-splits.ts';
import { answerOf, drawn, type Filing, type FilingWorld, itemOf, type Order } from '../service/filing-world.ts';

export interface Slice {
  readonly request: RequestBody;
  readonly returned: number;
  readonly isFull: boolean;
  /** Why it is a lower bound; undefined if it is not one. */
  readonly lowerBound: string | undefined;
}

export interface SplitRun {
  /** In the order of the requests. */
  readonly sent: readonly Slice[];
  /** Ids of the returned filings. */
  readonly found: ReadonlySet<number>;
  /** Questions that were split without being sent. */
  readonly split: number;
  /** The greatest number of requests that was quoted during the run: those answered, and the most that the open ones need. */
  readonly quoted: number;
  /** When the last answer came; one takes 1.5 on average. */
  readonly took: number;
}

export interface SplitRunOptions {
  readonly order: Order;
  readonly inFlight: number;
  readonly splitBy: SplitBy;
  readonly count?: number;
  readonly raiseCountTo?: number | undefined;
  readonly request?: RequestBody;
  readonly earlier?: InputSlices['slices'];
  /** More than so many requests are one too many. */
  readonly most: number;
  /** How long the next answer takes; 1 to 2 without it. */
  readonly latency?: () => number;
  /** What the service answers instead of the truth; undefined is the truth, null an answer that can't be read. */
  readonly respond?: (request: RequestBody, truth: readonly Filing[]) => readonly Filing[] | null | undefined;
}

export const UNREADABLE = 'its answer could not be read';

/** Requests a world completely: in the order planned, so many in flight at once, each answered after a time of its own. */
export function splitRun(world: FilingWorld, options: SplitRunOptions): SplitRun {
  const draw = drawn(99);
  const {
    order,
    inFlight,
    splitBy,
    count = 100,
    raiseCountTo,
    request = {},
    earlier = [],
    most,
    respond = () => undefined,
    latency = () => 1 + draw(),
  } = options;
  const window = { from: world.from, to: world.to };
  const definition = { endpoint, request: { ...request, count }, window, splitBy, raiseCountTo };
  const splitter = new Splitter(definition, earlier.length > 0 ? [{ input: {}, slices: earlier }] : []);
  const sent: Slice[] = [];
  const found = new Set<number>();
  const planned = new Set<string>();
  const queue: RequestBody[] = [];
  const early: RequestBody[] = [];
  const running: { readonly at: number; readonly request: RequestBody; readonly left: () => void }[] = [];
  let [now, split] = [0, 0];
  let [quote, quoted] = [0, 0];
  const mostOf = (it: RequestBody): number => {
    const allowance = allowanceOf(endpoint.paging, it, definition);
    return allowance ? requestsOf(allowance) : Number.POSITIVE_INFINITY;
  };
  const plan = (requests: readonly RequestBody[]): void => {
    for (const it of requests) {
      const canonical = canonicalRequest(endpoint, it);
      const key = canonicalJson(canonical);
      if (planned.has(key)) throw new Error(`planned twice: ${key}`);
      planned.add(key);
      queue.push(canonical);
      quote += mostOf(canonical);
    }
    quoted = Math.max(quoted, quote);
  };
  const begin = (it: RequestBody): void => {
    const decision = splitter.decide({ input: {}, request: it, attempts: 0 });
    if (decision.do === 'wait') early.push(it);
    else if (decision.do === 'split') {
      split += 1;
      quote -= mostOf(it);
      splitter.recordSplit({}, { request: it, items: [] }, decision.parts.requests);
      plan(decision.parts.requests);
    } else running.push({ at: now + latency(), request: it, left: splitter.start({ input: {}, request: it }) });
  };
  const end = ({ at, request: it, left }: (typeof running)[number]): void => {
    now = at;
    const truth = answerOf(world, it, order, draw);
    const given = respond(it, truth);
    const filings = given === undefined ? truth : (given ?? []);
    for (const { id } of filings) found.add(id);
    const step = { request: it, items: filings.map(itemOf) };
    if (given !== null) splitter.learn({}, step);
    const { requests, lowerBound } =
      given === null ? { requests: [], lowerBound: UNREADABLE } : splitter.followOf({}, step);
    splitter.recordSplit({}, step, requests);
    quote += 1 - mostOf(it);
    sent.push({ request: it, returned: filings.length, isFull: isFull(step), lowerBound });
    plan(requests);
    left();
    queue.unshift(...early.splice(0));
  };
  plan([{ ...request, count, date_from: world.from, date_to: world.to }]);
  for (;;) {
    for (let next = queue[0]; next && running.length < inFlight; next = queue[0]) {
      queue.shift();
      begin(next);
    }
    const [first] = running.toSorted((a, b) => a.at - b.at);
    if (!first) break;
    running.splice(running.indexOf(first), 1);
    end(first);
    if (sent.length > most) throw new Error(`more than ${most} requests`);
  }
  if (early.length > 0) throw new Error(`${early.length} questions wait for nothing`);
  return { sent, found, split, quoted, took: now };
}

/** Filings of the world that were not returned and match no slice that is a lower bound. */
export function missed(world: FilingWorld, { sent, found }: SplitRun): number {
  const below = new Set(
    sent.flatMap(({ request, lowerBound }) =>
      lowerBound === undefined ? [] : world.matching(request).map(({ id }) => id),
    ),
  );
  return world.filings.filter(({ id }) => !found.has(id) && !below.has(id)).length;
}
