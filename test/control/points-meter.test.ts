/** How much of the request log a meter reads to confirm the calls of a run. */
import { expect, it } from 'vitest';
import { openBudget } from '../../src/control/budget/local-budget.ts';
import { type Metering, TruePointsMeter } from '../../src/flow/points/points-meter.ts';
import type { LoggedCost } from '../../src/ledger/log-costs.ts';
import type { PriceBook } from '../../src/plan/pricing/price-book.ts';
import { ANSWERED } from './outcomes.ts';

/** Rows in a page of the log. */
const PAGE = 100;

/** A log that shows the newest calls but the missing one, as many as fit in the pages of a read; the requests have consecutive ids. */
function logOf(calls: () => number, missing?: number) {
  const pages: number[] = [];
  const from: number[] = [];
  const never = (): never => {
    throw new Error('not needed here');
  };
  const logReader: Metering['logReader'] = {
    isPositioned: () => true,
    useOurClock: () => false,
    problem: () => null,
    refusedToken: () => undefined,
    prices: async () => PRICES,
    begin: never,
    wouldOnlyCost: async () => false,
    confirmEarlier: async () => undefined,
    balance: async () => undefined,
    end: async () => undefined,
    read: async (fromMs, most) => {
      pages.push(most);
      from.push(fromMs);
      return { outcome: 'read', points: 0 };
    },
    costs: async (ids) =>
      new Map(
        ids
          .filter((id) => Number(id) !== missing && Number(id) > calls() - (pages.at(-1) ?? 0) * PAGE)
          .map((id): [string, LoggedCost] => [id, { charged: 1, rows: 1 }]),
      ),
  };
  return { logReader, pages, from };
}

const PRICES = { priced: 1, samples: 10 } as PriceBook;

/** A meter over this log, a way to make calls with consecutive ids, and its clock. */
function meterOf(logReader: Metering['logReader']) {
  let [nowMs, made] = [0, 0];
  const { signal } = new AbortController();
  const meter = new TruePointsMeter({
    now: () => new Date(nowMs),
    sleep: async (ms) => {
      nowMs += ms;
    },
    budget: openBudget([{ what: 'the run', points: 1_000_000, spent: 0 }]),
    logReader,
    prices: PRICES,
    inFlight: 8,
    mayIgnoreBalance: false,
  });
  return {
    meter,
    signal,
    made: () => made,
    pass: (ms: number): void => {
      nowMs += ms;
    },
    call: async (times: number): Promise<void> => {
      for (let call = 0; call < times; call += 1) {
        const ticket = await meter.enter(signal);
        if (!ticket || !('claim' in ticket)) throw new Error('no ticket');
        made += 1;
        await ticket.claim({ id: String(made), attempts: 0 }, { points: 1, add: async () => undefined });
        ticket.ended(ANSWERED);
        ticket.settle(1);
      }
    },
  };
}

it('a meter reads as many pages as the calls since the last reading fill, and confirms all of them', async () => {
  const { logReader, pages } = logOf(() => made());
  const { meter, signal, made, call } = meterOf(logReader);
  await call(12_000);
  expect(pages).toEqual([]);

  await meter.finish(signal);

  // One page, which may be enough, and then all.
  expect(pages.length).toBe(2);
});

it('a call without a row does not make all later readings begin at it, but the last one looks for it again', async () => {
  const { logReader, pages, from } = logOf(() => made(), 1);
  const { meter, signal, made, call, pass } = meterOf(logReader);
  await call(10);
  await meter.verify(signal);
  for (let minute = 0; minute < 10; minute += 1) {
    pass(60_000);
    await call(1000);
    await meter.verify(signal);
  }
  expect(from.at(-1)).toBeGreaterThan(240_000);
  expect(Math.max(...pages)).toBeLessThan(150);

  await meter.finish(signal);
  expect(from.at(-1)).toBe(0);
});
