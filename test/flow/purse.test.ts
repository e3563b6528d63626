/** Points set aside: never more than the limits allow, and no limit is reached while calls under way may give some back. */
import { describe, expect, it } from 'vitest';
import { openBudget } from '../../src/ops/budget.ts';
import { type Aside, openPurse } from '../../src/flow/purse.ts';

const limit = (points: number, spent = 0) => openBudget([{ what: 'the budget', points, spent }]);
const aside = async (taken: ReturnType<ReturnType<typeof openPurse>>): Promise<Aside> => {
  const it = await taken;
  if ('settle' in it) return it;
  throw new Error(`${it.what} was reached`);
};

describe('a purse', () => {
  it('tells the limit that is reached when nothing is under way', async () => {
    const purse = openPurse(limit(10, 8));
    (await aside(purse(2))).settle(2);
    expect(await purse(1)).toEqual({ what: 'the budget', points: 10, spent: 10 });
    expect(await purse(0)).toHaveProperty('settle');
  });

  it('waits for what calls under way cost, and never sets aside more than there is', async () => {
    const purse = openPurse(limit(10));
    const [first, second] = [await aside(purse(5)), await aside(purse(5))];
    let third: unknown;
    const waiting = purse(5).then((it) => (third = it));
    await new Promise(setImmediate);
    expect(third).toBeUndefined();
    first.settle(3);
    await new Promise(setImmediate);
    expect(third).toBeUndefined();
    second.settle(1);
    await waiting;
    expect(third).toHaveProperty('settle');
  });

  it('heeds the first word on a call alone, also when it cost more than was thought', async () => {
    const purse = openPurse(limit(10));
    const call = await aside(purse(1));
    call.settle(9);
    call.settle(0);
    expect(await purse(2)).toMatchObject({ spent: 9 });
  });
});

describe('a budget', () => {
  it('holds every limit, and sets nothing aside when one is reached', () => {
    const budget = openBudget([
      { what: 'a', points: 10, spent: 0 },
      { what: 'b', points: 10, spent: 7 },
    ]);
    expect(budget.reserve(4)).toEqual({ what: 'b', points: 10, spent: 7 });
    expect(budget.reserve(3)).toBeUndefined();
    expect(budget.reserve(1)).toMatchObject({ what: 'b', spent: 10 });
    budget.giveBack(2);
    expect(budget.reserve(2)).toBeUndefined();
  });
});
