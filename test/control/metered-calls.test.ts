/** What counts for calls under a limit in points, in any order of readings of the log, answers and loads. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/extract/outcome.ts';
import { MeteredCalls } from '../../src/flow/points/metered-calls.ts';
import type { LoggedCost } from '../../src/ledger/log-costs.ts';
import { ANSWERED } from './outcomes.ts';

const LOST: Outcome = { kind: 'unknown', reason: 'cut' };

/** Attempts at one request, and the points that count for them. `onCorrect` is called before each correction. */
function requestUnderLimit(onCorrect: () => void = () => undefined) {
  let counted = 0;
  let logged: LoggedCost = { charged: undefined, rows: 0 };
  const corrections: number[] = [];
  const calls = new MeteredCalls({
    now: () => new Date(0),
    budget: {},
    logReader: { costs: async (ids) => new Map(ids.map((id) => [id, logged])) },
  });
  return {
    calls,
    corrections,
    counted: () => counted,
    /** What readings of the log find from now on. */
    log: (charged: number, rows: number): void => {
      logged = { charged, rows };
    },
    /** Makes an attempt that can cost this much; returns what settles it at its expected cost. */
    attempt: async (points: number, outcome: Outcome): Promise<(cost: number) => void> => {
      const ticket = calls.openTicket();
      counted += points;
      const add = async (added: number): Promise<void> => {
        onCorrect();
        counted += added;
        corrections.push(added);
      };
      await ticket.claim({ id: '1', attempts: 0 }, { points, add });
      ticket.ended(outcome);
      return (cost) => {
        counted -= points - ticket.settle(cost);
      };
    },
  };
}

describe('a call whose cost the log shows before its answer is loaded', () => {
  it.each([
    { name: 'an answer', outcome: ANSWERED, reserved: 100, charged: 1, expected: 1 },
    { name: 'an answer that was expected to be free', outcome: ANSWERED, reserved: 100, charged: 7, expected: 0 },
    { name: 'a lost answer that was charged', outcome: LOST, reserved: 100, charged: 3, expected: 3 },
    { name: 'a lost answer that was free', outcome: LOST, reserved: 1, charged: 0, expected: 0 },
  ])('counts what was charged: $name', async ({ outcome, reserved, charged, expected }) => {
    const request = requestUnderLimit();
    const settle = await request.attempt(reserved, outcome);
    request.log(charged, 1);

    await request.calls.confirm(true);
    expect(request.counted()).toBe(charged);
    settle(expected);

    expect(request.counted()).toBe(charged);
    expect(request.calls.ids()).toEqual([]);
  });

  it('counts what was charged if the answer is loaded during the correction', async () => {
    let settle: (cost: number) => void = () => undefined;
    const request = requestUnderLimit(() => settle(1));
    settle = await request.attempt(100, ANSWERED);
    request.log(1, 1);

    await request.calls.confirm(false);

    expect(request.counted()).toBe(1);
  });
});

describe('a request that is sent again after a lost answer', () => {
  /** Loses the first answer; returns the request before its second attempt. */
  async function lostOnce(cost: number) {
    const request = requestUnderLimit();
    (await request.attempt(1, LOST))(cost);
    return request;
  }
  const answer = async (request: ReturnType<typeof requestUnderLimit>): Promise<void> =>
    (await request.attempt(1, ANSWERED))(1);
  const waiting = ({ calls }: ReturnType<typeof requestUnderLimit>) => calls.waiting().map(({ id }) => id);

  it('is not confirmed by the row of the lost attempt, and its answer counts until it has a row', async () => {
    const request = await lostOnce(1);
    request.log(1, 1);
    await answer(request);

    await request.calls.confirm(false);
    await request.calls.confirm(true);
    expect(request.corrections).toEqual([]);
    expect(waiting(request)).toEqual(['1']);
    expect(request.calls.lackRows(request.calls.waiting())).toBe(true);

    request.log(4, 2);
    await request.calls.confirm(false);
    expect(request.counted()).toBe(4);
    expect(waiting(request)).toEqual([]);
  });

  it('is not confirmed by a row that confirmed the lost attempt before', async () => {
    const request = await lostOnce(1);
    request.log(1, 1);
    await request.calls.confirm(false);
    expect(waiting(request)).toEqual([]);
    await answer(request);

    await request.calls.confirm(true);

    expect(request.counted()).toBe(2);
    expect(waiting(request)).toEqual(['1']);
  });

  it('is not confirmed by the row of a lost attempt that was free', async () => {
    const request = await lostOnce(0);
    request.log(0, 1);
    await answer(request);

    await request.calls.confirm(true);

    expect(request.counted()).toBe(1);
    expect(waiting(request)).toEqual(['1']);
  });

  it('is confirmed by one row if the lost attempt has none', async () => {
    const request = await lostOnce(0);
    await answer(request);
    request.log(3, 1);

    await request.calls.confirm(false);

    expect(request.counted()).toBe(3);
    expect(waiting(request)).toEqual([]);
  });

  it('counts what is charged beyond its points while it lacks a row', async () => {
    const request = await lostOnce(1);
    request.log(1, 1);
    await answer(request);
    request.log(9, 1);

    await request.calls.confirm(true);

    expect(request.corrections).toEqual([7]);
    expect(waiting(request)).toEqual(['1']);
  });

  it('waits for a late row of the lost attempt, and without it releases nothing', async () => {
    const request = await lostOnce(1);
    await answer(request);
    request.log(1, 1);

    await request.calls.confirm(false);
    expect(waiting(request)).toEqual(['1']);
    await request.calls.confirm(true);

    expect(request.counted()).toBe(2);
    expect(waiting(request)).toEqual([]);
  });
});

it('a correction releases points where they count: those of the first attempt first', async () => {
  const request = requestUnderLimit();
  (await request.attempt(5, LOST))(5);
  (await request.attempt(10, ANSWERED))(10);
  request.log(3, 2);

  await request.calls.confirm(false);

  expect(request.corrections).toEqual([-5, -7]);
  expect(request.counted()).toBe(3);
});

describe('a request that the service refuses', () => {
  it.each([
    { status: 404, mayLack: true },
    { status: 415, mayLack: true },
    { status: 422, mayLack: true },
    { status: 429, mayLack: false },
    { status: 503, mayLack: false },
  ])('may have a row that appears later: $status, $mayLack', async ({ status, mayLack }) => {
    const { calls, attempt, log } = requestUnderLimit();
    (await attempt(1, { ...ANSWERED, status }))(0);
    expect(calls.lackRows(calls.waiting())).toBe(false);
    expect(calls.mayLackRows(calls.waiting())).toBe(mayLack);

    log(6, 1);
    await calls.confirm(false);
    expect(calls.mayLackRows(calls.waiting())).toBe(false);
  });
});
