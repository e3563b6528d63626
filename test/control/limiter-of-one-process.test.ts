/** The limiter of one process: never more calls than allowed, and starts that keep their distance, in order. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { intervalMsOf } from '../../src/control/limiter/limiter.ts';
import type { Limiter, Slot } from '../../src/control/limiter/slot.ts';
import { LimiterQueue } from '../../src/control/limiter/queue.ts';
import { openLocalSlots } from '../../src/control/limiter/local-slots.ts';
import { settled, type Sleepers, sleepers } from '../flow/sleepers.ts';

const MANY = 1000;
const forever = new AbortController().signal;

function limiterOn(time: Sleepers, perSecond: number, inFlight = MANY): Limiter {
  const bounds = { inFlight, intervalMs: intervalMsOf(perSecond) };
  return new LimiterQueue(openLocalSlots(bounds, time.now), bounds, { ...time, random: () => 0.5 });
}

/** Starts a call; returns its start, in milliseconds after the beginning. */
async function start(limiter: Limiter, time: Sleepers, signal = forever): Promise<{ slot: Slot; at: number }> {
  const slot = await limiter.acquire(signal);
  expect(await slot.begin(signal)).toBe(true);
  return { slot, at: time.ms() };
}

async function startsOf(perSecond: number, count: number, late?: () => number): Promise<number[]> {
  const time = sleepers(late);
  const limiter = limiterOn(time, perSecond);
  const begin = time.ms();
  const all = Promise.all(Array.from({ length: count }, () => start(limiter, time)));
  await time.run();
  // Those that are let in ahead of their turns may change places when a timer is late.
  return (await all).map(({ at }) => at - begin).toSorted((a, b) => a - b);
}

describe('the pace of a process', () => {
  it.each([
    [5, [0, 200, 400, 600]],
    [0.2, [0, 5000, 10_000, 15_000]],
    [1, [0, 1000, 2000, 3000]],
    [Number.POSITIVE_INFINITY, [0, 0, 0, 0]],
  ])('of %d a second starts at %j', async (perSecond, expected) => {
    expect(await startsOf(perSecond, 4)).toEqual(expected);
  });

  it('is never faster than allowed, whatever the rate and however inexact the timers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.01, max: 499, noNaN: true }),
        fc.array(fc.integer({ min: -3, max: 40 }), { minLength: 1 }),
        async (perSecond, lateness) => {
          let n = 0;
          const starts = await startsOf(perSecond, 6, () => lateness[n++ % lateness.length] ?? 0);
          const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
          for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1000 / perSecond - 1e-3);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([700, 5000, 100_000])('of %d a second holds over any time that a timer can measure', async (perSecond) => {
    const starts = await startsOf(perSecond, 900);
    for (const [index, at] of starts.entries()) {
      const within = starts.slice(index).filter((it) => it - at < 10).length;
      expect(within).toBeLessThanOrEqual(perSecond * 0.012 + 1);
    }
    // It is not much slower either: timers of at least a millisecond must not limit it to one start a millisecond.
    expect(starts.at(-1)).toBeLessThanOrEqual((900 / perSecond) * 1000 + 3);
  });

  it('saves up no burst while there are no calls', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 1);
    await start(limiter, time);
    time.set(time.ms() + 60_000);
    const begin = time.ms();
    const all = Promise.all([1, 2, 3].map(() => start(limiter, time)));
    await time.run();
    expect((await all).map(({ at }) => at - begin)).toEqual([0, 1000, 2000]);
  });

  it('counts from the start itself, so that a delay between a slot and its start makes no burst', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 10);
    const [first, second] = [await limiter.acquire(forever), limiter.acquire(forever)];
    await time.run();
    time.set(time.ms() + 70);
    const begin = time.ms();
    await first.begin(forever);
    const began = (await second).begin(forever).then(() => time.ms() - begin);
    await time.run();
    expect(await began).toBe(100);
  });

  it('waits one interval at most after the clock was set back', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 2, 1);
    (await start(limiter, time)).slot.release();
    time.set(time.ms() - 3_600_000);
    const begin = time.ms();
    const next = start(limiter, time);
    await time.run();
    expect((await next).at - begin).toBe(500);
  });

  it('never sets a timer beyond what timers can hold', async () => {
    const asked: number[] = [];
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      asked.push(ms);
      nowMs += ms;
    };
    const bounds = { inFlight: 2, intervalMs: intervalMsOf(1e-7) };
    const now = (): Date => new Date(nowMs);
    const limiter = new LimiterQueue(openLocalSlots(bounds, now), bounds, { now, sleep, random: () => 0.5 });
    for (const _ of [1, 2]) await (await limiter.acquire(forever)).begin(forever);
    expect(nowMs).toBe(1e10);
    expect(Math.max(...asked)).toBeLessThan(2 ** 31);
  });

  it.each([0, -1, Number.NaN])('of %d is refused', (perSecond) => {
    expect(() => intervalMsOf(perSecond)).toThrow(UsageError);
  });

  it.each([Number.MIN_VALUE, 1e-300, 1e300])('of %d still is a number that clocks have', (perSecond) => {
    expect(Number.isSafeInteger(Math.ceil(Date.now() + 1001 * intervalMsOf(perSecond)))).toBe(true);
  });
});

describe('the slots of a process', () => {
  it('are as many as allowed, and each goes to who came first', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 1e6, 3);
    const order: number[] = [];
    const slots: Slot[] = [];
    const all = [1, 2, 3, 4, 5, 6].map(async (n) => {
      const slot = await limiter.acquire(forever);
      order.push(n);
      slots.push(slot);
    });
    await settled();
    expect(order).toEqual([1, 2, 3]);
    slots[1]?.release();
    await settled();
    // A second release has no effect: the slot belongs to another call.
    slots[1]?.release();
    await settled();
    expect(order).toEqual([1, 2, 3, 4]);
    for (const slot of slots) slot.release();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('are never more in use than allowed, whichever call stops waiting and however calls end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(
          fc.record({ tookMs: fc.integer({ min: 0, max: 50 }), stopsAfterMs: fc.integer({ min: 1, max: 200 }) }),
          {
            minLength: 1,
            maxLength: 30,
          },
        ),
        async (inFlight, calls) => {
          const time = sleepers();
          const limiter = limiterOn(time, 200, inFlight);
          let [inUse, most, ended] = [0, 0, 0];
          const all = calls.map(async ({ tookMs, stopsAfterMs }) => {
            const stop = new AbortController();
            void time.sleep(stopsAfterMs).then(() => stop.abort(new Error('stopped')));
            const slot = await limiter.acquire(stop.signal).catch(() => undefined);
            if (slot) {
              inUse += 1;
              most = Math.max(most, inUse);
              if (await slot.begin(stop.signal)) await time.sleep(tookMs);
              inUse -= 1;
              slot.release();
            }
            ended += 1;
          });
          await time.run();
          await Promise.all(all);
          expect(most).toBeLessThanOrEqual(inFlight);
          expect(ended).toBe(calls.length);
          // No call kept a slot.
          const again = Promise.all(Array.from({ length: inFlight }, () => limiter.acquire(forever)));
          await time.run();
          expect(await again).toHaveLength(inFlight);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('owe what calls left to record to all but those who record in order, until it is done', async () => {
    const limiter = limiterOn(sleepers(), 1e6, 1);
    const [one, other] = [{}, {}];
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    (await limiter.acquire(forever)).release({ recorded: first.promise, committer: one });
    const again = await limiter.acquire(forever);
    expect(again.pendingCommit(one)).toBeUndefined();
    again.release({ recorded: second.promise, committer: one });

    const others = await limiter.acquire(forever);
    let isPaid = false;
    void others.pendingCommit(other)?.then(() => (isPaid = true));
    second.resolve();
    await settled();
    // The one before is not recorded yet.
    expect(isPaid).toBe(false);
    first.reject(new Error('it could not be recorded'));
    await settled();
    expect([isPaid, others.pendingCommit(other)]).toEqual([true, undefined]);
  });

  it('are passed on whenever they are released', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const limiter = limiterOn(sleepers(), 1e6, 1);
      const slot = await limiter.acquire(forever);
      let passed = false;
      void limiter.acquire(forever).then(() => (passed = true));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      slot.release();
      await settled();
      expect({ turns, passed }).toEqual({ turns, passed: true });
    }
  });

  it('are not for one who is stopped already; his turn is the next one’s', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 1, 1);
    await expect(limiter.acquire(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    const begin = time.ms();
    expect((await start(limiter, time)).at).toBe(begin);
  });

  it('of one who is stopped before his turn start nothing', async () => {
    const time = sleepers();
    const limiter = limiterOn(time, 10, 2);
    await start(limiter, time);
    const stop = new AbortController();
    const slot = await limiter.acquire(stop.signal);
    const began = slot.begin(stop.signal);
    await settled();
    stop.abort(new Error('stopped'));
    expect(await began).toBe(false);
  });
});
