/** Starts keep their distance, in order, on a clock of the test's own. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { openPace } from '../../src/extract/pace.ts';

/** A clock that moves only when everybody sleeps; `late` is how much later than asked each sleep ends, of one millisecond at least. */
function clock(late: () => number = () => 0) {
  let nowMs = 1_700_000_000_000;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => new Date(nowMs),
    ms: () => nowMs,
    set: (ms: number) => {
      nowMs = ms;
    },
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const sleeper = { at: nowMs + Math.max(1, ms + late()), wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        });
      }),
    /** Lets everybody run; then wakes the next sleeper, until nobody sleeps. */
    run: async () => {
      for (let idle = 0; idle < 2; idle++) {
        await settled();
        const next = [...sleepers].toSorted((a, b) => a.at - b.at)[0];
        if (!next) continue;
        idle = -1;
        sleepers.delete(next);
        nowMs = Math.max(nowMs, next.at);
        next.wake();
      }
    },
  };
}
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

async function startsOf(perSecond: number, count: number, late?: () => number): Promise<number[]> {
  const time = clock(late);
  const pace = openPace({ perSecond, now: time.now, sleep: time.sleep });
  const begin = time.ms();
  const starts: number[] = [];
  const all = Array.from({ length: count }, () => pace().then(() => starts.push(time.ms() - begin)));
  await time.run();
  await Promise.all(all);
  return starts;
}

describe('a pace', () => {
  it.each([
    [5, [0, 200, 400, 600]],
    [0.2, [0, 5000, 10_000, 15_000]],
    [1, [0, 1000, 2000, 3000]],
    [Number.POSITIVE_INFINITY, [0, 0, 0, 0]],
  ])('of %d a second starts at %j', async (perSecond, expected) => {
    expect(await startsOf(perSecond, 4)).toEqual(expected);
  });

  it('is never faster than asked, whatever the rate and however badly timers keep time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.01, max: 2000, noNaN: true }),
        fc.array(fc.integer({ min: -3, max: 40 }), { minLength: 1 }),
        async (perSecond, lateness) => {
          let n = 0;
          const starts = await startsOf(perSecond, 6, () => lateness[n++ % lateness.length] ?? 0);
          const gaps = starts.slice(1).map((at, index) => at - (starts[index] as number));
          for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1000 / perSecond - 1e-3);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('saves up no burst while nothing is asked', async () => {
    const time = clock();
    const pace = openPace({ perSecond: 1, now: time.now, sleep: time.sleep });
    await pace();
    time.set(time.ms() + 60_000);
    const begin = time.ms();
    const starts: number[] = [];
    const all = [1, 2, 3].map(() => pace().then(() => starts.push(time.ms() - begin)));
    await time.run();
    await Promise.all(all);
    expect(starts).toEqual([0, 1000, 2000]);
  });

  it('lets callers through in the order in which they came', async () => {
    const time = clock();
    const pace = openPace({ perSecond: 10, now: time.now, sleep: time.sleep });
    const order: number[] = [];
    const all = [1, 2, 3, 4, 5].map((n) => pace().then(() => order.push(n)));
    await time.run();
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives the turn of one who is stopped to the next, at the front as in the queue', async () => {
    const time = clock();
    const pace = openPace({ perSecond: 1, now: time.now, sleep: time.sleep });
    const begin = time.ms();
    const [front, queued] = [new AbortController(), new AbortController()];
    await pace();
    const first = pace(front.signal);
    const second = pace(queued.signal);
    const third = pace().then(() => time.ms() - begin);
    await settled();
    queued.abort(new Error('stopped in the queue'));
    await expect(second).rejects.toThrow('stopped in the queue');
    front.abort(new Error('stopped at the front'));
    await expect(first).rejects.toThrow('stopped at the front');
    await time.run();
    expect(await third).toBe(1000);
  });

  it('keeps the order when one in the queue is stopped and timers keep time badly', async () => {
    const lateness = [900, 0, 0, 0];
    const time = clock(() => lateness.shift() ?? 0);
    const pace = openPace({ perSecond: 1, now: time.now, sleep: time.sleep });
    const order: number[] = [];
    const stop = new AbortController();
    await pace();
    const first = pace().then(() => order.push(1));
    const stopped = pace(stop.signal);
    const last = pace().then(() => order.push(3));
    await settled();
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await time.run();
    await Promise.all([first, last]);
    expect(order).toEqual([1, 3]);
  });

  it('refuses one who is stopped already, and loses no turn by it', async () => {
    const time = clock();
    const pace = openPace({ perSecond: 1, now: time.now, sleep: time.sleep });
    await expect(pace(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    const begin = time.ms();
    await pace();
    expect(time.ms()).toBe(begin);
  });

  it('waits one interval at most after the clock was set back', async () => {
    const time = clock();
    const pace = openPace({ perSecond: 2, now: time.now, sleep: time.sleep });
    await pace();
    time.set(time.ms() - 3_600_000);
    const begin = time.ms();
    const next = pace().then(() => time.ms() - begin);
    await time.run();
    expect(await next).toBe(500);
  });

  it('never sets a timer beyond what timers can hold', async () => {
    const asked: number[] = [];
    let nowMs = 0;
    const pace = openPace({
      perSecond: 1e-7,
      now: () => new Date(nowMs),
      sleep: (ms) => {
        asked.push(ms);
        nowMs += ms;
        return Promise.resolve();
      },
    });
    await pace();
    await pace();
    expect(nowMs).toBe(1e10);
    expect(Math.max(...asked)).toBeLessThan(2 ** 31);
  });

  it.each([0, -1, Number.NaN])('of %d is refused', (perSecond) => {
    const time = clock();
    expect(() => openPace({ perSecond, now: time.now, sleep: time.sleep })).toThrow(UsageError);
  });
});
