/** Reserved points: never more than the limits allow, and no limit is reached while calls in flight may release some. */
import { describe, expect, it } from 'vitest';
import { admitRequest } from '../../src/flow/request/admission.ts';
import { limitReached } from '../../src/flow/request/end.ts';
import type { Slot } from '../../src/control/limiter/slot.ts';
import { type Reservation, openReservations, type Reservations } from '../../src/control/budget/reservations.ts';
import {
  bothBudgets,
  type BudgetGuard,
  openBudget,
  type BudgetReservation,
} from '../../src/control/budget/local-budget.ts';
import { door } from './limiter-calls.ts';
import { settled } from '../flow/sleepers.ts';

const limit = (points: number, spent = 0, what = 'the budget') => openBudget([{ what, points, spent }]);
const reserve = async (reservations: Reservations, points: number): Promise<Reservation> => {
  const it = await reservations.reserve(points);
  if (it) return it;
  throw new Error('a limit was reached');
};
const reserved = async (guard: BudgetGuard, points: number): Promise<BudgetReservation> => {
  const it = await guard.reserve(points);
  if ('add' in it) return it;
  throw new Error(`${it.what} was reached`);
};

describe('reservations', () => {
  it('report the limit that is reached when no call is in flight', async () => {
    const reservations = openReservations(limit(10, 8));
    (await reserve(reservations, 2)).settle(2);
    expect(await reservations.waitForBudget(1)).toEqual({ what: 'the budget', points: 10, spent: 10 });
    expect(await reservations.reserve(1)).toBeUndefined();
    expect(await reservations.waitForBudget(0)).toBeUndefined();
  });

  it('wait for the cost of calls in flight, and never reserve more than there is', async () => {
    const reservations = openReservations(limit(10));
    const [first, second] = [await reserve(reservations, 5), await reserve(reservations, 5)];
    expect(await reservations.reserve(5)).toBeUndefined();
    let room: unknown = 'waiting';
    const waiting = reservations.waitForBudget(5).then((it) => (room = it));
    await settled();
    expect(room).toBe('waiting');
    first.settle(3);
    await settled();
    expect(room).toBe('waiting');
    second.settle(1);
    await waiting;
    expect(room).toBeUndefined();
    expect(await reservations.reserve(5)).toBeDefined();
  });

  it('count only the first cost of a call, also if it is more than expected', async () => {
    const reservations = openReservations(limit(10));
    const call = await reserve(reservations, 1);
    call.settle(9);
    call.settle(0);
    expect(await reservations.waitForBudget(2)).toMatchObject({ spent: 9 });
  });

  it('reach no limit by a check that began before a settlement', async () => {
    const [readBegun, answer] = [door(), door()];
    const budget = limit(10);
    let slow = false;
    const reservations = openReservations({
      ...budget,
      check: async (points) => {
        const reached = await budget.check(points);
        if (slow) {
          slow = false;
          readBegun.open();
          await answer.opened;
        }
        return reached;
      },
    });
    const call = await reserve(reservations, 10);
    slow = true;
    const room = reservations.waitForBudget(5);
    await readBegun.opened;
    call.settle(1);
    await settled();
    answer.open();
    expect(await room).toBeUndefined();
  });

  it('are closed when everything is released, and let no call wait for points that were not reserved', async () => {
    const giving = door();
    let givenBack = 0;
    const reservations = openReservations({
      check: async () => undefined,
      reserve: async () => ({
        add: async (points) => {
          await giving.opened;
          givenBack -= points;
        },
      }),
    });
    (await reserve(reservations, 7)).settle(3);
    let closed = false;
    const closing = reservations.close().then(() => (closed = true));
    await settled();
    expect(closed).toBe(false);
    giving.open();
    await closing;
    expect(givenBack).toBe(4);

    const broken = openReservations({
      check: async () => ({ what: 'x', points: 1, spent: 1 }),
      reserve: () => Promise.reject(new Error('away')),
    });
    await expect(broken.reserve(1)).rejects.toThrow('away');
    expect(await broken.waitForBudget(1)).toMatchObject({ what: 'x' });
  });
});

describe('a budget', () => {
  it('holds every limit, and reserves nothing when one is reached', async () => {
    const budget = openBudget([
      { what: 'a', points: 10, spent: 0 },
      { what: 'b', points: 10, spent: 7 },
    ]);
    expect(await budget.reserve(4)).toEqual({ what: 'b', points: 10, spent: 7 });
    const three = await reserved(budget, 3);
    expect(await budget.check(1)).toMatchObject({ what: 'b', spent: 10 });
    await three.add(-2);
    expect(await budget.check(2)).toBeUndefined();
    expect(await budget.reserve(2)).toHaveProperty('add');
  });

  it('allows the last points although the sums of mean prices are inexact', async () => {
    const mean = 13 / 3;
    const budget = limit(366);
    // Each call counts with the most it can cost, then with the mean price, and four calls later with its charge.
    for (let call = 0; call < 64; call += 1)
      for (const points of [call < 60 ? 6 : 0, call < 60 ? mean - 6 : 0, call < 4 ? 0 : 6 - mean])
        await budget.add(points);
    const nearly = await budget.check(7);
    expect(nearly?.spent).not.toBe(360);
    expect(await budget.reserve(6)).toHaveProperty('add');
    expect(await budget.check(1)).toMatchObject({ spent: expect.closeTo(366) });
    if (!nearly) throw new Error('the limit does not hold');
    expect(limitReached({ ...nearly, needed: 7 })).toMatchObject({
      because: 'the budget is 366 points, 360 are spent or reserved, and the next request can cost 7',
    });
  });

  it('of two guards allows what both do, and takes from neither otherwise', async () => {
    const [first, second] = [limit(10, 0, 'first'), limit(10, 6, 'second')];
    const both = bothBudgets(first, second);
    expect(await both.check(5)).toMatchObject({ what: 'second' });
    expect(await both.reserve(5)).toMatchObject({ what: 'second', spent: 6 });
    expect(await both.reserve(11)).toMatchObject({ what: 'first', spent: 0 });
    const four = await reserved(both, 4);
    expect(await first.check(7)).toMatchObject({ spent: 4 });
    await four.add(-3);
    expect([await first.check(10), await second.check(4)]).toMatchObject([{ spent: 1 }, { spent: 7 }]);
    const broken = bothBudgets(first, { ...second, reserve: () => Promise.reject(new Error('away')) });
    await expect(broken.reserve(2)).rejects.toThrow('away');
    expect(await first.check(9)).toBeUndefined();
  });
});

describe('a call that is let in', () => {
  /** A limiter that counts, with any number of slots. */
  function counting() {
    let [inUse, taken] = [0, 0];
    const limiter = {
      acquire: async (): Promise<Slot> => {
        inUse += 1;
        taken += 1;
        return { begin: async () => true, pendingCommit: () => undefined, release: () => (inUse -= 1) };
      },
      close: async (): Promise<void> => undefined,
    };
    return { limiter, inUse: () => inUse, taken: () => taken };
  }
  const forever = new AbortController().signal;
  const entry = async (admitted: ReturnType<typeof admitRequest>) => {
    const it = await admitted;
    if ('slot' in it) return it;
    throw new Error(`${it.what} was reached`);
  };

  it('holds no slot while it waits for points, and takes none for a limit that is reached', async () => {
    const { limiter, inUse, taken } = counting();
    const reservations = openReservations(limit(10));
    const first = await entry(admitRequest(limiter, reservations, () => 10, forever));
    expect(inUse()).toBe(1);
    let second: Awaited<ReturnType<typeof admitRequest>> | undefined;
    const waiting = admitRequest(limiter, reservations, () => 5, forever).then((it) => (second = it));
    await settled();
    expect([inUse(), taken()]).toEqual([1, 1]);
    first.slot.release();
    first.reservation.settle(6);
    await waiting;
    expect(second).toEqual({ what: 'the budget', points: 10, spent: 6, needed: 5 });
    expect([inUse(), taken()]).toEqual([0, 1]);
  });

  it('releases its slot if other calls took the points first, and waits again', async () => {
    const { limiter, inUse, taken } = counting();
    const reservations = openReservations(limit(10));
    const [one, two] = [
      admitRequest(limiter, reservations, () => 10, forever),
      admitRequest(limiter, reservations, () => 10, forever),
    ];
    const first = await entry(Promise.race([one, two]));
    await settled();
    expect([inUse(), taken()]).toEqual([1, 2]);
    first.slot.release();
    first.reservation.settle(0);
    const [a, b] = [await entry(one), await entry(two)];
    expect(a === first || b === first).toBe(true);
    expect([inUse(), taken()]).toEqual([1, 3]);
  });

  it('keeps no slot when the run was stopped or the points could not be reserved', async () => {
    const { limiter, inUse } = counting();
    const stop = new AbortController();
    const stopping = {
      ...limiter,
      acquire: async (): Promise<Slot> => {
        stop.abort(new Error('stopped'));
        return limiter.acquire();
      },
    };
    await expect(admitRequest(stopping, openReservations(limit(10)), () => 1, stop.signal)).rejects.toThrow('stopped');
    const broken = openReservations({ ...limit(10), reserve: () => Promise.reject(new Error('away')) });
    await expect(admitRequest(limiter, broken, () => 1, forever)).rejects.toThrow('away');
    expect(inUse()).toBe(0);
  });
});
