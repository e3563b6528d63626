/** The cap of a process: what one invocation spent, or may have spent, is not left for the next. */
import { expect, it } from 'vitest';
import { openSpendingCap, type SpendingCap } from '../../src/control/budget/spending-cap.ts';
import {
  type LoggedRow,
  type PricedOptions,
  pricedService,
  spend,
  type SpendingOptions,
} from '../journeys/priced-service.ts';
import { only } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const TEN: PricedOptions['price'] = () => 10;
/** Searches that can return 1000 people for 100 points, and return one. */
const SEARCHES =
  '  people: { endpoint: pronet.search.users, request: { count: 1000 }, for_each: { title: [a, b, c] } }';

anyWarehouse('a cap of several invocations', (open) => {
  async function opened(options: PricedOptions, points: number) {
    const service = await pricedService(options);
    const warehouse = await open();
    const cap: SpendingCap = openSpendingCap('the cap', points);
    const invoke = async (run: SpendingOptions = {}) => {
      const { summary } = await spend(service, warehouse, { cap, ...run });
      service.clock.advance(1000);
      return only(summary);
    };
    return { service, warehouse, cap, invoke };
  }

  it('counts what each of them spent in true points, and then allows no request', async () => {
    const { service, cap, invoke } = await opened({ price: TEN }, 30);

    expect(await invoke({ maxPoints: 20 })).toMatchObject({ exitCode: 6, points: 20 });
    expect(await cap.use()).toEqual({ cap: 30, spent: 20, left: 10 });
    expect(await invoke()).toMatchObject({ exitCode: 6, pointsNow: 10 });
    const { exitCode, error } = await invoke();

    expect([exitCode, error]).toEqual([
      6,
      'the cap is 30 points, 30 are spent or reserved, and the next request can cost 10',
    ]);
    expect(service.spent()).toBe(30);
    expect(await cap.use()).toEqual({ cap: 30, spent: 30, left: 0 });
  });

  it('counts at its most what the log does not confirm', async () => {
    const { service, cap, invoke } = await opened({ price: () => 1, row: () => undefined }, 150);

    expect(await invoke({ syncs: SEARCHES, limit: 1 })).toMatchObject({ points: 1, unverified: { requests: 1 } });
    expect(await cap.use()).toMatchObject({ spent: 100, left: 50 });
    expect(await invoke({ syncs: SEARCHES })).toMatchObject({ exitCode: 6, error: expect.stringContaining('the cap') });

    expect(service.calls()).toBe(1);
  });

  it('counts at its charge what the log confirms, beside a request that it does not confirm', async () => {
    const lacking = (row: LoggedRow, nth: number): LoggedRow | undefined => (nth === 2 ? undefined : row);
    const { service, cap, invoke } = await opened({ price: () => 1, row: lacking }, 1000);

    await invoke({ syncs: SEARCHES, inFlight: 1 });

    expect(service.calls()).toBe(3);
    expect(await cap.use()).toMatchObject({ spent: 102 });
  });

  it('counts a request in flight when the invocation is interrupted', async () => {
    const stop = new AbortController();
    const { service, cap, invoke } = await opened({ price: () => 1, onCall: () => stop.abort() }, 1000);

    expect(await invoke({ syncs: SEARCHES, inFlight: 1, signal: stop.signal })).toMatchObject({ state: 'interrupted' });

    expect(service.calls()).toBe(1);
    expect(await cap.use()).toMatchObject({ spent: 100 });
  });

  it('holds although every invocation is interrupted at a guessed price: the next one reads the log first', async () => {
    let stop = new AbortController();
    const { service, cap, invoke } = await opened({ price: TEN, onCall: () => stop.abort() }, 30);

    for (let invocation = 0; invocation < 8; invocation += 1) {
      stop = new AbortController();
      await invoke({ signal: stop.signal });
    }

    expect(service.spent()).toBe(30);
    expect(await cap.use()).toEqual({ cap: 30, spent: 30, left: 0 });
  });

  it('counts once what the log shows later, not beside the greatest cost', async () => {
    const stop = new AbortController();
    const { service, cap, invoke } = await opened({ price: () => 100, onCall: () => stop.abort() }, 1000);
    await invoke({ syncs: SEARCHES, inFlight: 1, signal: stop.signal });
    expect(await cap.use()).toMatchObject({ spent: 100 });

    // It learns the price, 100 points an item, and may not ask for 1000 items any more.
    expect(await invoke({ syncs: SEARCHES, inFlight: 1 })).toMatchObject({ exitCode: 6, points: 100, pointsNow: 0 });

    expect(service.spent()).toBe(100);
    expect(await cap.use()).toMatchObject({ spent: 100 });
  });

  it('counts a refused attempt for which no reading shows that it was free', async () => {
    const stop = new AbortController();
    const { service, cap, invoke } = await opened(
      { price: () => 1, status: () => 503, onCall: () => stop.abort() },
      30,
    );

    await invoke({ signal: stop.signal });

    expect(service.spent()).toBe(1);
    expect(await cap.use()).toMatchObject({ spent: 1 });
  });

  it('counts readings of the log, also the last one of each invocation', async () => {
    const { service, cap, invoke } = await opened({ price: () => 1, readingCost: 1, points: 1000 }, 40);

    let invocations = 0;
    while ((await cap.use()).left > 0) {
      await invoke({ inputs: 60, maxPoints: 6 });
      invocations += 1;
    }

    expect(invocations).toBeGreaterThan(4);
    const charged = 1000 - service.points();
    // The first reading counts as free, until the log shows that readings cost points.
    expect(charged).toBeLessThanOrEqual(42);
    expect(charged).toBeGreaterThanOrEqual(35);
  });
});
