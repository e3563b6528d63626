/** `budget.keep` holds from the first paid request on: no balance, no purchase. */
import { describe, expect, it } from 'vitest';
import { only } from '../flow/scene.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { type LoggedRow, type PricedOptions, pricedService, rowOf, spend, tickingFrom } from './priced-service.ts';

const ONE: PricedOptions['price'] = () => 1;
const SHOWS_FIVE = rowOf({ points_left: 5 });

anyWarehouse('budget.keep', (open) => {
  it('buys two of ten inputs with 5 points and keep 3, before any log was read', async () => {
    const service = await pricedService({ price: ONE, points: 5, before: [SHOWS_FIVE] });

    const run = only((await spend(service, await open(), { budget: '{ keep: 3 }', inputs: 10, inFlight: 4 })).summary);

    expect(run).toMatchObject({ exitCode: 6, state: 'out_of_points', left: 8, points: 2 });
    expect(service.points()).toBe(3);
    expect(service.paths()[0]).toBe('/token/requests');
  });
});

describe('budget.keep', () => {
  const open = postgresWarehouses();

  it.each([
    {
      name: 'a log that is refused',
      options: { logStatus: () => 403 },
      says: 'no log today',
      nevertheless: { exitCode: 0, answers: 3 },
    },
    {
      name: 'a log that fails',
      options: { logStatus: () => 500 },
      says: 'no log today',
      nevertheless: { exitCode: 0, answers: 3 },
    },
    // Its first row shows the balance, which holds from then on.
    {
      name: 'a log without rows',
      options: {},
      says: 'shows no points_left',
      nevertheless: { exitCode: 6, answers: 2 },
    },
    {
      name: 'a log without balances',
      options: { before: [rowOf({}), rowOf({})] },
      says: 'shows no points_left',
      nevertheless: { exitCode: 6, answers: 2 },
    },
  ])('refuses with $name, and buys when the config says so', async ({ options, says, nevertheless }) => {
    const service = await pricedService({ price: ONE, points: 5, ...options });
    const warehouse = await open();

    const refused = only((await spend(service, warehouse, { budget: '{ keep: 3 }', inputs: 3 })).summary);
    expect(refused).toMatchObject({ exitCode: 6, state: 'out_of_points', sent: 0, left: 3 });
    expect(refused.error).toContain('the balance is not known');
    expect(refused.error).toContain(says);
    expect(refused.next).toContain('budget.unknown_balance');
    expect(service.calls()).toBe(0);

    const spent = only(
      (await spend(service, warehouse, { budget: '{ keep: 3, unknown_balance: spend }', inputs: 3 })).summary,
    );
    expect(spent).toMatchObject(nevertheless);
  });

  it('ends with exit code 3 if the service refuses the token when it reads the log', async () => {
    const service = await pricedService({ price: ONE, points: 5, logStatus: () => 401 });
    const run = only((await spend(service, await open(), { budget: '{ keep: 3 }', inputs: 3 })).summary);
    expect(run).toMatchObject({ exitCode: 3, state: 'interrupted', sent: 0, left: 3 });
    expect(run.error).toBe('the service answered 401: no log today');
    expect(service.calls()).toBe(0);
  });

  it.each([
    {
      name: 'the newest row has none yet',
      before: [
        rowOf({ points_left: 5 }),
        rowOf({
          started_at: '2026-03-06T14:59:59.000000Z',
          response_status_code: null,
          duration: null,
          cost: 0,
          is_paid: false,
        }),
      ],
    },
    {
      name: 'the newest row is long ago',
      before: [rowOf({ points_left: 5, started_at: '2025-01-06T14:59:59.000000Z' })],
    },
    {
      name: 'a later row without one was charged',
      before: [
        rowOf({ points_left: 7 }),
        rowOf({ cost: 2, endpoint: '/api/pronet/group', started_at: '2026-03-06T14:59:59.000000Z' }),
      ],
    },
    {
      name: 'the newest row ended before it began',
      before: [
        rowOf({ points_left: 7, started_at: '2026-03-06T14:00:00.000000Z', duration: -1e308 }),
        rowOf({ points_left: 5, started_at: '2026-03-06T14:59:59.000000Z', duration: -1 }),
      ],
    },
    {
      name: 'rows are listed oldest first',
      order: 'ascending' as const,
      before: Array.from({ length: 250 }, (_, at) =>
        rowOf({
          points_left: 254 - at,
          started_at: new Date(Date.parse('2026-03-01T00:00:00Z') + at * 60_000).toISOString(),
        }),
      ),
    },
  ])('finds the balance where $name', async ({ before, ...options }) => {
    const service = await pricedService({ price: ONE, points: 5, before, ...options });
    const run = only((await spend(service, await open(), { budget: '{ keep: 3 }', inputs: 10 })).summary);
    expect(run).toMatchObject({ exitCode: 6, left: 8 });
    expect(service.points()).toBe(3);
  });

  it.each([
    ['a minute', '2026-03-06T15:01:00.000000Z'],
    ['an hour', '2026-03-06T16:00:00.000000Z'],
    ['a month', '2026-04-06T15:00:00.000000Z'],
  ])('is held if a row of a machine with a wrong clock is %s in the future', async (_, startedAt) => {
    for (const endpoint of ['/api/microblog/user', '/api/other']) {
      const later = rowOf({ points_left: 900, started_at: startedAt, endpoint, response_request_id: 'another' });
      const service = await pricedService({ price: ONE, points: 5, before: [SHOWS_FIVE, later] });
      const { summary } = await spend(tickingFrom(service), await open(), { budget: '{ keep: 3 }', inputs: 10 });
      expect(only(summary)).toMatchObject({ exitCode: 6, left: 8 });
      expect(service.points()).toBe(3);
    }
  });

  it('is held after a top-up if the clock of the service is an hour ahead', async () => {
    const skewMs = 3_600_000;
    const before = [rowOf({ points_left: 2 }), rowOf({ points_left: 5, started_at: '2026-03-06T15:59:59.000000Z' })];
    const service = await pricedService({ price: ONE, points: 5, before, skewMs });
    const warehouse = await open();
    const buys = async () =>
      only((await spend(tickingFrom(service), warehouse, { budget: '{ keep: 3 }', inputs: 10 })).summary);
    // The clocks are not compared yet, so the row from before the top-up counts.
    expect(await buys()).toMatchObject({ exitCode: 6, left: 10 });
    service.clock.advance(skewMs);
    expect(await buys()).toMatchObject({ exitCode: 6, left: 8 });
    expect(service.points()).toBe(3);
  });

  it('larger than the balance buys nothing', async () => {
    const service = await pricedService({ price: ONE, points: 5, before: [SHOWS_FIVE] });
    const run = only((await spend(service, await open(), { budget: '{ keep: 30 }', inputs: 3 })).summary);
    expect(run).toMatchObject({ exitCode: 6, sent: 0 });
    expect(run.error).toContain('the balance of 5 points less budget.keep');
  });

  it('counts a call that began before the newest row of the log and ended after it', async () => {
    const before = [
      rowOf({ started_at: '2026-03-06T14:00:00.000000Z', duration: 90, points_left: 4 }),
      rowOf({ started_at: '2026-03-06T14:01:00.000000Z', duration: 1, points_left: 5 }),
    ];
    const service = await pricedService({ price: ONE, points: 4, before });
    const run = only((await spend(service, await open(), { budget: '{ keep: 4 }', inputs: 3 })).summary);
    expect(run).toMatchObject({ exitCode: 6, sent: 0 });
    expect(run.error).toContain('the balance of 4 points less budget.keep');
  });

  it('finds the balance of a log with more rows in the minutes before the newest one than are read', async () => {
    const newestMs = Date.parse('2026-03-06T14:00:00Z');
    const before = Array.from({ length: 5_100 }, (_, at) =>
      rowOf({ started_at: new Date(newestMs - at * 60).toISOString(), points_left: 5 + at }),
    );
    const service = await pricedService({ price: ONE, points: 5, before: before.toReversed() });
    const run = only((await spend(service, await open(), { budget: '{ keep: 3 }', inputs: 10 })).summary);
    expect(run).toMatchObject({ exitCode: 6, left: 8 });
    expect(service.points()).toBe(3);
  });

  it('is held in a young log with the oldest row first', async () => {
    const service = await pricedService({ price: ONE, points: 20, before: [], readingCost: 0, order: 'ascending' });
    service.addRow({ points_left: 20 });
    const warehouse = await open();
    for (const _ of [1, 2, 3]) {
      service.clock.advance(5000);
      expect(only((await spend(service, warehouse, { budget: '{ keep: 10 }', refresh: true })).summary).exitCode).toBe(
        6,
      );
    }
    expect(service.points()).toBe(10);
  });

  it('counts what other programs spend meanwhile', async () => {
    const service = await pricedService({
      price: ONE,
      points: 100,
      before: [rowOf({ points_left: 100 })],
      onCall: (nth, it) => {
        if (nth === 10) it.addRow({ cost: 60, points_left: 31, response_request_id: 'another' });
      },
    });
    const run = only(
      (await spend(service, await open(), { budget: '{ keep: 20 }', inputs: 100, inFlight: 1 })).summary,
    );
    expect(run).toMatchObject({ exitCode: 6 });
    // 60 of the 80 points that may be spent are another program's.
    expect(service.spent()).toBeLessThanOrEqual(21);
  });

  it('is held by the balance also if the log calls charged rows unpaid', async () => {
    const row = (it: LoggedRow): LoggedRow => ({ ...it, is_paid: false });
    const before = [rowOf({ points_left: 20 })];
    const service = await pricedService({ price: ONE, points: 20, before, row });
    const run = only((await spend(service, await open(), { budget: '{ keep: 3 }', inputs: 40, inFlight: 2 })).summary);
    expect(run).toMatchObject({ exitCode: 6 });
    expect(service.points()).toBeGreaterThanOrEqual(3 - 2);
    expect(service.points()).toBeLessThanOrEqual(3 + 2);
  });

  it('stops when the log no longer confirms what was spent', async () => {
    const service = await pricedService({
      price: ONE,
      points: 100,
      before: [rowOf({ points_left: 100 })],
      logStatus: (nth) => (nth > 3 ? 500 : 200),
    });
    const run = only(
      (await spend(service, await open(), { budget: '{ keep: 20 }', inputs: 100, inFlight: 1 })).summary,
    );
    expect(run).toMatchObject({ exitCode: 6, state: 'out_of_points' });
    expect(run.error).toContain('does not confirm what was spent');
    expect(service.spent()).toBeLessThanOrEqual(20);
    expect(run.unverified?.requests).toBeGreaterThan(0);
  });

  it('continues by the balance in headers, if answers have it', async () => {
    const service = await pricedService({
      price: (nth) => (nth > 3 ? 7 : 1),
      header: true,
      points: 100,
      before: [rowOf({ points_left: 100 })],
      logStatus: (nth) => (nth > 3 ? 500 : 200),
    });
    const run = only(
      (await spend(service, await open(), { budget: '{ keep: 20 }', inputs: 100, inFlight: 1 })).summary,
    );
    expect(run).toMatchObject({ exitCode: 6 });
    expect(service.points()).toBeGreaterThanOrEqual(20 - 7);
    expect(service.points()).toBeLessThanOrEqual(27);
  });

  it('stops at once if the header of an answer shows an overdrawn account', async () => {
    const service = await pricedService({
      price: (nth) => (nth === 2 ? 200 : 1),
      header: true,
      points: 100,
      before: [rowOf({ points_left: 100 })],
      appearsAfterMs: 1_000_000_000,
    });
    const run = only((await spend(service, await open(), { budget: '{ keep: 20 }', inputs: 50, inFlight: 1 })).summary);
    expect(run).toMatchObject({ exitCode: 6 });
    expect(service.calls()).toBe(2);
  });

  it('does not take a balance of another service or token for its own', async () => {
    const warehouse = await open();
    const rich = await pricedService({ price: ONE, points: 1000, before: [rowOf({ points_left: 1000 })] });
    await spend(rich, warehouse, { budget: '{ keep: 3 }', inputs: 2 });
    const poor = await pricedService({ price: ONE, points: 5, logStatus: () => 403 });
    const run = only((await spend(poor, warehouse, { budget: '{ keep: 3 }', inputs: 2, refresh: true })).summary);
    expect(run).toMatchObject({ exitCode: 6, sent: 0 });
  });
});
