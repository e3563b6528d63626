/** Limits in points hold in true points: the process reads the request log itself, whatever the guesses say. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { only } from '../flow/scene.ts';
import {
  type PricedOptions,
  pricedService,
  spend,
  type SpendingOptions,
  tickingFrom,
  without,
} from './priced-service.ts';

interface Case extends Partial<PricedOptions> {
  readonly name: string;
  readonly run: SpendingOptions;
  readonly mostSpent: number;
  readonly leastSpent?: number;
  readonly mostReadings?: number;
}

const TEN: PricedOptions['price'] = () => 10;
/** The price of the first calls, which a new token learns from an empty log. */
const RISING: PricedOptions['price'] = (nth) => (nth > 10 ? 5 : 1);
const CASES: readonly Case[] = [
  {
    name: 'a price of 10, guessed as 1',
    price: TEN,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'the same with 4 in flight',
    price: TEN,
    run: { budget: '{ per_run: 30 }', inFlight: 4 },
    mostSpent: 30,
    leastSpent: 30,
  },
  { name: 'a day’s limit', price: TEN, run: { budget: '{ per_day: 30 }' }, mostSpent: 30, leastSpent: 30 },
  { name: '--max-points', price: TEN, run: { maxPoints: 30 }, mostSpent: 30, leastSpent: 30 },
  {
    name: 'a sync’s own limit',
    price: TEN,
    run: {
      syncs: '  users: { endpoint: microblog.user, budget: { per_run: 30 }, for_each: { user: [a, b, c, d, e, f] } }',
    },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a price that rises after 11 calls, one in flight',
    price: (nth) => (nth > 11 ? 10 : 1),
    run: { budget: '{ per_run: 30 }', inFlight: 1 },
    mostSpent: 40,
    leastSpent: 11,
  },
  {
    name: 'a price that rises after 11 calls, a large limit',
    price: (nth) => (nth > 11 ? 10 : 1),
    run: { budget: '{ per_run: 100 }', inFlight: 1, inputs: 120 },
    mostSpent: 110,
    leastSpent: 80,
  },
  {
    name: 'a price that rises, four in flight',
    price: (nth) => (nth > 40 ? 10 : 1),
    run: { budget: '{ per_run: 100 }', inFlight: 4, inputs: 120 },
    mostSpent: 140,
    leastSpent: 60,
  },
  {
    name: 'a log that shows rows 4 s late',
    price: TEN,
    appearsAfterMs: 4000,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log that shows costs 4 s late',
    price: TEN,
    costsAfterMs: 4000,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log without identifiers',
    price: TEN,
    row: without,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log without identifiers, 4 in flight',
    price: () => 3,
    row: without,
    run: { budget: '{ per_run: 60 }', inFlight: 4 },
    mostSpent: 60,
    leastSpent: 60,
  },
  {
    name: 'a log without status and duration',
    price: TEN,
    row: (row) => ({ ...row, response_status_code: null, duration: null }),
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log in ascending order',
    price: TEN,
    order: 'ascending',
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log whose clock is 3 hours behind',
    price: TEN,
    skewMs: -3 * 3_600_000,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log whose clock is 3 hours ahead',
    price: TEN,
    skewMs: 3 * 3_600_000,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  {
    name: 'a log 3 hours behind without identifiers',
    price: TEN,
    skewMs: -3 * 3_600_000,
    row: without,
    run: { budget: '{ per_run: 30 }' },
    mostSpent: 30,
    leastSpent: 30,
  },
  ...[
    { clock: 'an hour behind', skewMs: -3_600_000 },
    { clock: '90 s behind', skewMs: -90_000 },
    { clock: 'an hour behind without identifiers', skewMs: -3_600_000, row: without },
    { clock: 'an hour ahead without identifiers', skewMs: 3_600_000, row: without },
  ].map(({ clock, ...log }) => ({
    name: `a price that rises, and a log ${clock}`,
    price: RISING,
    ...log,
    run: { budget: '{ per_run: 30 }', inFlight: 4 },
    mostSpent: 30,
    leastSpent: 30,
  })),
  {
    name: 'readings that cost a point',
    price: TEN,
    readingCost: 1,
    run: { budget: '{ per_run: 40 }' },
    mostSpent: 40,
    leastSpent: 20,
  },
  { name: 'a limit of 0', price: TEN, run: { budget: '{ per_run: 0 }' }, mostSpent: 0 },
  {
    name: 'a price by items',
    price: (_, items) => items,
    items: (nth) => (nth === 1 ? 1 : 5),
    run: { budget: '{ per_run: 30 }', inFlight: 2 },
    mostSpent: 40,
    leastSpent: 11,
  },
  {
    name: 'refusals (503) that are charged',
    price: TEN,
    status: (nth) => (nth % 2 === 0 ? 503 : 200),
    run: { budget: '{ per_run: 100 }', inFlight: 4 },
    mostSpent: 100,
    leastSpent: 80,
  },
  {
    name: 'refusals (429) that are all charged',
    price: TEN,
    status: () => 429,
    run: { budget: '{ per_run: 60 }', inFlight: 4 },
    mostSpent: 60,
    leastSpent: 60,
  },
  {
    name: 'refusals (429) that are free',
    price: (nth) => (nth % 2 === 0 ? 0 : 1),
    status: (nth) => (nth % 2 === 0 ? 429 : 200),
    row: (row, nth) => (nth % 2 === 0 ? undefined : row),
    run: { budget: '{ per_run: 10 }', inFlight: 4 },
    mostSpent: 10,
    leastSpent: 10,
  },
  {
    name: 'a true guess, with few readings',
    price: () => 1,
    run: { budget: '{ per_run: 100 }', inputs: 100, inFlight: 4 },
    mostSpent: 100,
    leastSpent: 100,
    mostReadings: 30,
  },
];

anyWarehouse('a limit in points', (open) => {
  it.each(CASES)('holds with $name', async ({ run, mostSpent, leastSpent = 0, mostReadings = 60, ...options }) => {
    const service = tickingFrom(await pricedService({ price: TEN, ...options }));

    const summary = only((await spend(service, await open(), run)).summary);

    expect(service.spent()).toBeLessThanOrEqual(mostSpent);
    expect(service.spent()).toBeGreaterThanOrEqual(leastSpent);
    expect(summary.points).toBe(service.spent());
    expect(service.readings()).toBeLessThanOrEqual(mostReadings);
  });
});
