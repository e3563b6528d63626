/** How much of the request log a meter reads to confirm the calls of a run. */
import { expect, it } from 'vitest';
import { openBudget } from '../../src/control/budget/local-budget.ts';
import type { Outcome } from '../../src/extract/outcome.ts';
import { type Metering, TruePointsMeter } from '../../src/flow/points/points-meter.ts';
import type { LoggedCost } from '../../src/ledger/log-costs.ts';
import type { PriceBook } from '../../src/plan/pricing/price-book.ts';

const ANSWERED: Outcome = {
  kind: 'answered',
  status: 200,
  headers: {},
  body: new Uint8Array(),
  receivedAt: new Date(0),
  tookMs: 1,
};
/** Rows in a page of the log. */
const PAGE = 100;

/** A log that shows the newest calls, as many as fit in the pages of a read; the requests have consecutive ids. */
function logOf(calls: () => number): { readonly logReader: Metering['logReader']; readonly pages: number[] } {
  const pages: number[] = [];
  const never = (): never => {
    throw new Error('not needed here');
  };
  const logReader: Metering['logReader'] = {
    isPositioned: () => true,
    problem: () => null,
    refusedToken: () => undefined,
    prices: async () => PRICES,
    begin: never,
    confirmEarlier: async () => undefined,
    balance: async () => undefined,
    end: async () => undefined,
    read: async (_, most) => {
      pages.push(most);
      return { outcome: 'read', points: 0 };
    },
    costs: async (ids) =>
      new Map(
        ids
          .filter((id) => Number(id) > calls() - (pages.at(-1) ?? 0) * PAGE)
          .map((id): [string, LoggedCost] => [id, { charged: 1, rows: 1 }]),
      ),
  };
  return { logReader, pages };
}

const PRICES = { priced: 1, samples: 10 } as PriceBook;

it('a meter reads as many pages as the calls since the last reading fill, and confirms all of them', async () => {
  const CALLS = 12_000;
  const { logReader, pages } = logOf(() => CALLS);
  let nowMs = 0;
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
  const { signal } = new AbortController();
  const none = async (): Promise<void> => undefined;
  for (let id = 1; id <= CALLS; id += 1) {
    const ticket = await meter.enter(signal);
    if (!ticket || !('claim' in ticket)) throw new Error('no ticket');
    await ticket.claim({ id: String(id), attempts: 0 }, { points: 1, add: none });
    ticket.answered(ANSWERED);
    ticket.settle(1);
  }
  expect(pages).toEqual([]);

  await meter.finish(signal);

  // One page, which may be enough, and then all.
  expect(pages.length).toBe(2);
});
