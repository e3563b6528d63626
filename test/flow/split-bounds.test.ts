/** Bounds of the requests for a window over several runs, whatever the service answers and whatever was learned from that. */
import { describe, expect, it } from 'vitest';
import type { InputSlices } from '../../src/ledger/coverage.ts';
import { allowanceOf, requestsOf } from '../../src/service/window/allowance.ts';
import { dayNumber, dayText } from '../../src/day.ts';
import { secSearchCompanies as endpoint } from '../../src/service/endpoints/sec-search-companies.ts';
import { countOf } from '../support/long.ts';
import { drawn, type Filing, type FilingWorld, filingWorld, type Order } from '../service/filing-world.ts';
import { type SplitRun, type SplitRunOptions, splitRun, missed, UNREADABLE } from './split-run.ts';

const ORDERS: readonly Order[] = ['newest first', 'oldest first', 'at random', 'relevant'];
const FIRST = dayNumber('2023-01-01');
const FACETS = [
  {},
  { location_codes: ['CA', 'NY', 'TX'] },
  { forms: ['4', '8-K', '10-K'], location_codes: ['CA', 'NY'] },
];

type Draw = () => number;
const below = (draw: Draw, end: number): number => Math.floor(draw() * end);
const oneOf = <T>(draw: Draw, all: readonly T[]): T => all[below(draw, all.length)] as T;

interface Trial {
  readonly world: FilingWorld;
  readonly options: SplitRunOptions;
}

function trialOf(seed: number): Trial {
  const draw = drawn(seed);
  const days = 1 + below(draw, oneOf(draw, [3, 10, 40]));
  const rows = below(draw, oneOf(draw, [5, 50, 150]));
  const busy = below(draw, days);
  const hasBusyDay = draw() < 0.3;
  const world = filingWorld(seed, dayText(FIRST), dayText(FIRST + days - 1), (day) =>
    hasBusyDay ? (day === FIRST + busy ? rows / 2 : rows / 2 / days) : rows / days,
  );
  const options = {
    order: oneOf(draw, ORDERS),
    inFlight: oneOf(draw, [1, 4, 16]),
    splitBy: oneOf<SplitRunOptions['splitBy']>(draw, FACETS),
    count: oneOf(draw, [4, 10, 25, 100]),
    // Parts of a day that was not sent may each raise the count again, so together they may need more than the day.
    raiseCountTo: oneOf(draw, [undefined, undefined, 100]),
  };
  return { world, options: { ...options, most: mostOf(world, options) } };
}

/** What a plan quotes as the most. */
function mostOf(
  { from, to }: FilingWorld,
  { count = 100, raiseCountTo, splitBy }: Pick<SplitRunOptions, 'count' | 'raiseCountTo' | 'splitBy'>,
): number {
  const request = { count, date_from: from, date_to: to };
  const allowance = allowanceOf(endpoint.paging, request, { window: { from, to }, splitBy, raiseCountTo });
  if (!allowance) throw new Error('a window has an end');
  return requestsOf(allowance);
}

/** A service that answers one request in three with something other than the truth. */
function lying(draw: Draw, world: FilingWorld): NonNullable<SplitRunOptions['respond']> {
  return ({ count }, truth) => {
    const share = draw();
    if (share < 0.1) return null;
    if (share < 0.15) return [];
    if (share < 0.2) return truth.slice(0, below(draw, truth.length + 1));
    const any = (): Filing => ({ id: -1, day: FIRST - 40 + below(draw, 300), form: '4', state: 'CA' });
    if (share < 0.25) return Array.from({ length: Number(count) + below(draw, 20) }, any);
    if (share < 0.3) return world.filings.slice(0, Number(count) + 1);
    return undefined;
  };
}

/** A service that takes up to a hundred times as long for one answer in five, so that answers come in any order. */
const slow = (draw: Draw) => (): number => (draw() < 0.2 ? 100 * draw() : 1 + draw());

/** The slices that a later run recalls of an earlier one. */
const recalled = ({ sent }: SplitRun, runId: string): InputSlices['slices'] =>
  sent
    .filter(({ lowerBound }) => lowerBound !== UNREADABLE)
    .map(({ request, returned, isFull }) => ({
      request: { ...request, count: undefined },
      returned,
      full: isFull,
      runId,
    }));

describe('a window', () => {
  it('takes no more requests than its days and facets allow, is never quoted more, and a truthful run brings all of it', () => {
    for (let seed = 1; seed <= countOf(300, 20_000); seed++) {
      const { world, options } = trialOf(seed);
      const lie = lying(drawn(seed + 0.5), world);
      const latency = slow(drawn(seed + 0.25));
      let earlier: InputSlices['slices'] = [];
      // `splitRun` throws when a run takes more than the most.
      for (let run = 1; run <= 2; run++) {
        const ran = splitRun(world, { ...options, earlier, latency, respond: lie });
        // A continued run is quoted by its open requests.
        expect(ran.quoted, `quote of seed ${seed}`).toBeLessThanOrEqual(options.most);
        earlier = [...earlier, ...recalled(ran, String(run))];
      }
      expect(missed(world, splitRun(world, { ...options, earlier, latency })), `seed ${seed}`).toBe(0);
    }
  });

  it('is not requested day by day because earlier answers had far more items, or none, for its days', () => {
    for (let seed = 1; seed <= countOf(30, 1000); seed++) {
      const draw = drawn(seed);
      const days = 100 + below(draw, 600);
      const rows = below(draw, 500);
      const world = filingWorld(seed, dayText(FIRST), dayText(FIRST + days - 1), () => rows / days);
      const earlier = Array.from({ length: days }, (_, at) => {
        const day = dayText(FIRST + at);
        const returned = seed % 2 === 0 ? 300 : at === 7 ? 90 : 0;
        return { request: { entity_name: '', date_from: day, date_to: day }, returned, full: false, runId: '1' };
      });
      const options = { order: oneOf(draw, ORDERS), inFlight: oneOf(draw, [1, 4]), splitBy: {}, most: 1000 };
      const run = splitRun(world, { ...options, earlier });
      expect(missed(world, run)).toBe(0);
      expect(run.sent.length, `seed ${seed}`).toBeLessThanOrEqual(20 + (world.filings.length / 100) * 8);
    }
  });
});
